/** All error codes with the exit code of the command. `docs/reference/errors.md` is generated from this list. */
export const ERROR_CODES = {
  USAGE: {
    exit: 2,
    about: 'The command line is invalid: an unknown option, a missing argument, or an ambiguous choice.',
  },
  NAME_INVALID: {
    exit: 2,
    about:
      'A tape name contains characters other than letters, digits, dots, dashes and underscores, or is not allowed for another reason.',
  },
  BINDINGS_INVALID: {
    exit: 2,
    about: 'A bindings file cannot be read, or names a place that is not on the tape.',
  },
  PATH_INVALID: { exit: 2, about: 'A path given to an option such as `--ignore` is invalid.' },
  FILTER_INVALID: {
    exit: 2,
    about: 'A filter for messages, such as the one of `--filter`, is invalid.',
  },
  RULE_INVALID: {
    exit: 2,
    about: 'A matching rule is invalid: in an option, in `reelay.config.yaml` or next to a tape.',
  },
  SETTINGS_INVALID: {
    exit: 2,
    about:
      'A settings file (`reelay.config.yaml`, the matching rules or the noise profile next to a tape, a file of faults or overrides) cannot be read or contains an invalid setting.',
  },
  URL_INVALID: {
    exit: 2,
    about: 'The URL of a server is invalid, or a server at this URL cannot be recorded.',
  },
  LISTEN_FAILED: {
    exit: 3,
    about: 'The address to listen on is in use, is not on this machine, or is not allowed.',
  },
  COMMAND_NOT_FOUND: {
    exit: 3,
    about: 'The server or client command does not exist on this machine or is not on the PATH.',
  },
  COMMAND_NOT_RUNNABLE: { exit: 3, about: 'The server or client command exists but could not be started.' },
  CONTROL_NOT_FOUND: {
    exit: 3,
    about:
      'No recording or replay that can be controlled is writing the tape, on this machine and with the same `REELAY_HOME`.',
  },
  CA_EXISTS: { exit: 3, about: 'A local CA already exists. It is never overwritten.' },
  CA_NOT_FOUND: { exit: 3, about: 'There is no local CA. `reelay ca create` creates one.' },
  CA_UNUSABLE: {
    exit: 3,
    about: 'The files of the local CA cannot be read, written or removed, or the CA has expired.',
  },
  TAPE_NOT_FOUND: { exit: 3, about: 'There is no tape with that name or at that path.' },
  TAPE_UNREADABLE: {
    exit: 3,
    about: 'The tape exists but could not be read, because of its permissions or a disk error.',
  },
  TAPE_IS_A_FOLDER: { exit: 3, about: 'The path is a folder, not a tape file.' },
  TAPE_EMPTY: { exit: 3, about: 'The file is empty.' },
  TAPE_NOT_OURS: { exit: 3, about: 'The file is not a tape: its first line is not a Reelay header.' },
  TAPE_TOO_NEW: {
    exit: 3,
    about: 'The tape was written by a newer Reelay, in a format version that this one does not support.',
  },
  TAPE_BROKEN: {
    exit: 3,
    about: 'The tape has a header, but its content violates the format in a way that cannot be skipped.',
  },
  TAPE_UNWRITABLE: {
    exit: 3,
    about:
      'The tape cannot be written: permissions, a full disk, or a folder in its place. A recording session goes on without the tape and ends with the exit code of its server.',
  },
  CONFIG_NOT_TRUSTED: {
    exit: 3,
    about:
      'The project’s config is not used: it is code that was not trusted with `reelay trust`, or another user owns it or can write to it.',
  },
  CONFIG_NOT_FOUND: { exit: 3, about: 'No config file of an MCP client was found where one was expected.' },
  CONFIG_BROKEN: {
    exit: 3,
    about: 'A config file of a client is not valid JSON or TOML. It is not changed.',
  },
  CONFIG_UNWRITABLE: {
    exit: 3,
    about:
      'A config file of a client, its backup or the list of wrapped entries cannot be written, or was changed by another program in the meantime. The file is not changed.',
  },
  SERVER_NOT_FOUND: { exit: 3, about: 'No config file has a server with that name.' },
  REDACTION_KEY: {
    exit: 3,
    about:
      'The key for placeholders cannot be read or is invalid. A recording session goes on with a key for its tape alone.',
  },
  REDACTION_CONFIG: {
    exit: 3,
    about:
      'The redaction section of the project’s config is invalid. Nothing is recorded with incomplete rules.',
  },
  REDACTION_LIMIT: {
    exit: 3,
    about:
      'A text cannot be searched for secrets in a reasonable time, usually because of a pattern of the project. A recording session goes on, and the message is withheld from the tape.',
  },
  VAULT_REFUSED: {
    exit: 2,
    about:
      'A vault for real values of secrets was requested in a place where other users could read it, or could get it together with a tape.',
  },
  SETTINGS_UNWRITABLE: {
    exit: 3,
    about: 'The matching rules or the noise profile next to a tape cannot be written.',
  },
  WORKERS_FAILED: {
    exit: 3,
    about:
      'A load run on several machines could not begin: Redis cannot be reached or refuses the password, workers are missing, or another run uses them.',
  },
  TARGET_REFUSED: {
    exit: 3,
    about: 'The live server that a tape is replayed against did not answer the handshake, or rejected it.',
  },
  EXPORT_FAILED: {
    exit: 3,
    about:
      'The tape could not be written in another format: the file or the collector cannot be reached, or the editor failed.',
  },
  IMPORT_FAILED: {
    exit: 3,
    about: 'A recording of another tool cannot be read, or contains nothing that a tape can hold.',
  },
  BEFORE_RUN_FAILED: {
    exit: 3,
    about: 'The command of `--before-run` failed, so nothing was sent.',
  },
  REPORT_UNWRITABLE: { exit: 3, about: 'A report cannot be written to the given file.' },
  SHARE_REFUSED: {
    exit: 1,
    about:
      'A tape was not copied for sharing: the copy would contain a secret, or would not answer as the tape does.',
  },
  REPLAY_DRIFT: {
    exit: 1,
    about: 'A run did not use all recorded requests, or sent requests that were not recorded.',
  },
  CALL_NOT_RECORDED: {
    exit: 1,
    about: 'A program sent a request that is not on the tape, or sent it more often than it was recorded.',
  },
  NOT_REPRODUCED: {
    exit: 1,
    about: 'A session that is to be shrunk does not fail when it is sent again.',
  },
  CAPSULE_INVALID: { exit: 2, about: 'A file is not a capsule of `reelay shrink`, or is damaged.' },
  UNEXPECTED: { exit: 3, about: 'A bug in Reelay. Please report it with the text of the message.' },
} as const

export type ErrorCode = keyof typeof ERROR_CODES

export interface ErrorDetails {
  /** What to try next, in one sentence. */
  readonly hint?: string
  readonly cause?: unknown
}

/** The only error class. The message says what failed, where and why, `hint` says what to do, and callers check `code`. */
export class ReelayError extends Error {
  override readonly name = 'ReelayError'
  readonly code: ErrorCode
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.hint = details.hint
  }

  /** The exit code of a command that fails with this error. */
  get exitCode(): 1 | 2 | 3 {
    return ERROR_CODES[this.code].exit
  }
}

/**
 * The message of anything that was thrown. Errors of the file system are told in plain words, without the path, which the caller
 * names: `ENOENT: no such file or directory, open 'x'` becomes `there is no such file`.
 */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [, tls] = /\bSSL routines:\w*:([^:]+):/.exec(error.message) ?? []
  if (tls !== undefined) return `TLS error: ${tls}`
  const [, code = '', why = '', call, path] = FILE_ERROR.exec(error.message) ?? []
  if (code === '') return error.message
  if (call === 'mkdir') return `the folder ${path} cannot be created: ${why}`
  return FILE_ERROR_TEXT[code] ?? why
}

const FILE_ERROR = /^(E[A-Z]+): ([^,]+), (\w+)(?: '(.*?)')?(?: -> '.*')?$/

const FILE_ERROR_TEXT: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of the path is not a folder',
}

/** The code of an error of the system, such as `ENOENT`. Returns `undefined` for other errors. */
export function systemErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** Every way that Reelay can fail, with the exit code it ends a command with. `docs/errors.md` is made from this list. */
export const ERROR_CODES = {
  USAGE: {
    exit: 2,
    about:
      'The command line does not make sense: an unknown option, a missing argument, a choice that cannot be made for you.',
  },
  NAME_INVALID: {
    exit: 2,
    about:
      'A tape name holds something other than letters, digits, dot, dash and underscore, or would leave the tape folder.',
  },
  BINDINGS_INVALID: {
    exit: 2,
    about: 'A bindings file cannot be read, or names a place that the tape does not have.',
  },
  PATH_INVALID: { exit: 2, about: 'A path given to an option such as `--ignore` cannot be read.' },
  RULE_INVALID: {
    exit: 2,
    about:
      'A matching rule cannot be read, whether it stands in an option, in `reelay.config.yaml` or beside a tape.',
  },
  SETTINGS_INVALID: {
    exit: 2,
    about:
      'A settings file (`reelay.config.yaml`, the matching rules beside a tape, a file of faults or overrides) cannot be read, or asks for something that makes no sense.',
  },
  URL_INVALID: {
    exit: 2,
    about: 'What was given as the URL of a server is none, or is one that cannot be recorded.',
  },
  LISTEN_FAILED: {
    exit: 3,
    about: 'The address to listen on is taken, not ours, or not allowed.',
  },
  COMMAND_NOT_FOUND: {
    exit: 3,
    about: 'The server or client command does not exist on this machine or is not on the PATH.',
  },
  COMMAND_NOT_RUNNABLE: { exit: 3, about: 'The server or client command exists and could not be started.' },
  CA_EXISTS: { exit: 3, about: 'There is a local CA already, and it is never written over.' },
  CA_NOT_FOUND: { exit: 3, about: 'There is no local CA; `reelay ca create` makes one.' },
  CA_UNUSABLE: {
    exit: 3,
    about: 'The files of the local CA cannot be read, written or removed, or it has expired.',
  },
  TAPE_NOT_FOUND: { exit: 3, about: 'There is no tape of that name or at that path.' },
  TAPE_UNREADABLE: {
    exit: 3,
    about: 'The tape exists and could not be read: permissions, or an error of the disk.',
  },
  TAPE_IS_A_FOLDER: { exit: 3, about: 'The path names a folder where a tape file was expected.' },
  TAPE_EMPTY: { exit: 3, about: 'The file holds nothing at all.' },
  TAPE_NOT_OURS: { exit: 3, about: 'The file is no tape: its first line is not a Reelay header.' },
  TAPE_TOO_NEW: {
    exit: 3,
    about: 'The tape was written by a newer Reelay, in a version that this one does not know.',
  },
  TAPE_BROKEN: {
    exit: 3,
    about:
      'The tape has a header, and its content contradicts the format in a way that cannot be read around.',
  },
  TAPE_UNWRITABLE: {
    exit: 3,
    about:
      'The tape cannot be written: permissions, a full disk, or a folder in its place. A recording session goes on without it, and ends with the exit code of its server.',
  },
  CONFIG_NOT_FOUND: { exit: 3, about: 'There is no config file of an MCP client where one was expected.' },
  CONFIG_BROKEN: {
    exit: 3,
    about: "A client's config file cannot be read as JSON or TOML. It is left as it is.",
  },
  CONFIG_UNWRITABLE: {
    exit: 3,
    about:
      "A client's config file, its backup or the list of wrapped entries cannot be written, or changed while it was being edited. The file is left as it is.",
  },
  SERVER_NOT_FOUND: { exit: 3, about: 'No config file that was looked at holds a server of that name.' },
  REDACTION_KEY: {
    exit: 3,
    about:
      'The key that makes stand-ins for secrets cannot be read, or is none. A recording session goes on, with a key for its tape alone.',
  },
  REDACTION_CONFIG: {
    exit: 3,
    about:
      'The redaction section of the project’s config cannot be read. Nothing is recorded with half of the rules.',
  },
  VAULT_REFUSED: {
    exit: 2,
    about:
      'A vault for real values of secrets was asked for in a place where others could read them, or get them together with a tape.',
  },
  SETTINGS_UNWRITABLE: { exit: 3, about: 'The matching rules beside a tape cannot be written.' },
  TARGET_REFUSED: {
    exit: 3,
    about:
      'The live server that a tape is replayed against did not take part: no answer to the handshake, or a refusal.',
  },
  IMPORT_FAILED: {
    exit: 3,
    about: 'A recording of another tool cannot be read, or holds nothing that a tape could.',
  },
  BEFORE_RUN_FAILED: {
    exit: 3,
    about: 'The command of `--before-run` failed, so that the run was not made.',
  },
  REPORT_UNWRITABLE: { exit: 3, about: 'A report cannot be written where it was wanted.' },
  SHARE_REFUSED: {
    exit: 1,
    about:
      'A tape was not copied for sharing: a secret would be left in the copy, or the copy would not answer as the tape does.',
  },
  REPLAY_DRIFT: {
    exit: 1,
    about: 'A run left recorded requests unused, or asked for more than was recorded.',
  },
  CALL_NOT_RECORDED: {
    exit: 1,
    about: 'A program asked for what is not on the tape, or more often than it was recorded.',
  },
  UNEXPECTED: { exit: 3, about: 'A fault in Reelay itself. Please report it with the text of the message.' },
} as const

export type ErrorCode = keyof typeof ERROR_CODES

export interface ErrorDetails {
  /** What to try next, in one sentence. */
  readonly hint?: string
  readonly cause?: unknown
}

/** The one error class: the message says what failed, where and why; `hint` says what to do; callers test `code`. */
export class ReelayError extends Error {
  override readonly name = 'ReelayError'
  readonly code: ErrorCode
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.hint = details.hint
  }

  /** The exit code that this error ends a command with. */
  get exitCode(): 1 | 2 | 3 {
    return ERROR_CODES[this.code].exit
  }
}

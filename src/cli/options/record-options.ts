import { ReelayError } from '../../errors.ts'
import { similarOption } from '../../text.ts'
import type { AddedHeader } from '../../http/headers.ts'
import type { ListenAddress } from '../../http/server/http-server.ts'
import { isTapePath } from '../../store/home.ts'
import { DEFAULT_MAX_LINE_BYTES, HARD_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import type { MessageInterceptor } from '../../record/intercept/link-interceptor.ts'
import type { RecordingLimits, RecordingRules } from '../../record/tape-log.ts'
import type { RedactOption } from '../../record/redaction.ts'
import type { TapeLabels } from '../../tape/header.ts'
import {
  option,
  inGroup,
  hasFlag,
  insteadOfOption,
  longFlag,
  readOptions,
  otherOptionName,
  takeOptions,
  usageError,
  type OptionRows,
  type OptionTable,
  type ValueType,
} from './option.ts'
import {
  choiceOf,
  countValue,
  durationValue,
  fileValue,
  headerValue,
  headerFromVariable,
  listenValue,
  listOf,
  nameList,
  switchOff,
  switchOn,
  textValue,
  collectorValue,
} from './option-types.ts'
import { LABEL_OPTIONS, overwriteOption, readLabels, vaultOption, type LabelFlags } from './shared-options.ts'

interface RecordFlags extends LabelFlags {
  readonly output?: string
  readonly overwrite?: true
  readonly numbered?: true
  readonly url?: string
  readonly urlEnv?: string
  readonly bridge?: true
  readonly forward?: true
  readonly listen?: ListenAddress
  readonly header?: readonly AddedHeader[]
  readonly headerEnv?: readonly AddedHeader[]
  readonly server?: string
  readonly only?: readonly string[]
  readonly skip?: readonly string[]
  /** MiB. */
  readonly maxSize?: number
  readonly maxMessages?: number
  readonly idle?: number
  readonly rotate?: true
  /** MiB. */
  readonly maxLine?: number
  /** KiB. */
  readonly cut?: number
  readonly pending?: number
  readonly learn?: number
  readonly tail?: true
  readonly otlp?: string
  readonly redact?: boolean
  readonly redactEmail?: true
  readonly vault?: string
  readonly quiet?: true
  readonly intercept?: string
  readonly holdLimit?: number
  readonly onLimit?: 'forward' | 'error'
  readonly controlHttp?: ListenAddress
}

const KIB = 1024
const MIB = 1024 * KIB

const urlFromVariable: ValueType<string> = {
  ...textValue,
  placeholder: 'variable',
  parse: (variable, env) => {
    const url = env[variable]
    if (url) return url
    throw usageError(
      `--url-env needs ${variable}, which is not in the environment`,
      'set it to the URL of the server, or use --url',
    )
  },
}

/** The options of `reelay record`. They are parsed without commander, so that the server starts before anything large is loaded. */
export const RECORD_OPTIONS: OptionTable<RecordFlags> & OptionRows = {
  ...inGroup('Server', {
    url: option(
      '--url <url>',
      textValue,
      'Record the server at this URL; clients connect to Reelay instead',
      { conflicts: ['urlEnv', 'forward'] },
    ),
    urlEnv: option(
      '--url-env',
      urlFromVariable,
      'Read the URL from this environment variable, e.g. because it contains a secret',
      { conflicts: ['forward'] },
    ),
    bridge: option(
      '--bridge',
      switchOn,
      'Use stdio for the client and HTTP for the server at --url, for clients that start commands',
      { needs: { url: true, urlEnv: true }, conflicts: ['listen'] },
    ),
    forward: option(
      '--forward',
      switchOn,
      'Start a forward proxy and the client command; record every server that the client uses',
    ),
    listen: option('--listen', listenValue, 'Listen for clients on this address', {
      default: 'a free port on 127.0.0.1',
      needs: { url: true, urlEnv: true, forward: true },
    }),
    header: option(
      '--header',
      listOf(headerValue),
      'Add a header to every request to --url; ${env.NAME} is read from the environment (repeatable)',
      { needs: { url: true, urlEnv: true } },
    ),
    headerEnv: option(
      '--header-env',
      headerFromVariable,
      'Add a header with the value of this environment variable; append ? if it may be unset (repeatable)',
      { needs: { url: true, urlEnv: true } },
    ),
  }),
  ...inGroup('Tape', {
    output: option(
      '-o, --output',
      fileValue,
      'Write the tape to this file; if it exists, --overwrite or --numbered is needed',
    ),
    overwrite: overwriteOption,
    numbered: option(
      '--numbered',
      switchOn,
      'Add a number to the name if the tape exists, e.g. for a client that starts the server again and again',
      { conflicts: ['overwrite'] },
    ),
    server: option('--server <name>', textValue, 'Name the server on the tape', {
      default: 'from the command or the URL',
    }),
  }),
  ...LABEL_OPTIONS,
  ...inGroup('Limits', {
    only: option('--only <methods>', nameList, 'Record only these methods, e.g. tools/call,resources/*'),
    skip: option('--skip <methods>', nameList, 'Do not record these methods'),
    maxSize: option('--max-size <MiB>', countValue(), 'Stop recording when the tape reaches this size'),
    maxMessages: option('--max-messages', countValue(), 'Stop recording after this many messages'),
    idle: option(
      '--idle <seconds>',
      durationValue('s', 1),
      'Stop recording if there is no message for this long',
    ),
    rotate: option('--rotate', switchOn, 'Start a new tape at a limit instead of stopping', {
      needs: { maxSize: true, maxMessages: true, idle: true },
    }),
    maxLine: option(
      '--max-line <MiB>',
      countValue(HARD_MAX_LINE_BYTES / MIB),
      'Record messages up to this size in full, and only the beginning of longer ones',
      { default: String(DEFAULT_MAX_LINE_BYTES / MIB) },
    ),
    cut: option(
      '--cut <KiB>',
      countValue(),
      'Record only the beginning of messages longer than this; cut responses cannot be served',
      { default: 'off' },
    ),
    pending: option(
      '--pending <seconds>',
      durationValue('s', 1),
      'Report requests that wait longer than this for a response',
    ),
  }),
  ...inGroup('Intercept', {
    intercept: option(
      '--intercept <filter>',
      textValue,
      "Hold messages that match, until reelay intercept or a control client decides, e.g. 'tool:search dir:c2s'",
    ),
    holdLimit: option(
      '--hold-limit',
      durationValue('s', 100),
      'Release a held message when its call has waited this long',
      { default: '50s', needs: { intercept: true } },
    ),
    onLimit: option(
      '--on-limit',
      choiceOf('forward', 'error'),
      'At the limit, forward the message, or let its request fail',
      { default: 'forward', needs: { intercept: true } },
    ),
    controlHttp: option(
      '--control-http',
      listenValue,
      'Also accept control clients over HTTP on this loopback address',
      { needs: { intercept: true } },
    ),
  }),
  ...inGroup('Noise', {
    learn: option(
      '--learn',
      countValue(1000),
      'After the session, play the tape this many times against the server command and write a noise profile',
      { conflicts: ['url', 'urlEnv', 'forward', 'rotate'] },
    ),
  }),
  ...inGroup('Secrets', {
    redact: option('--no-redact', switchOff, 'Write secrets to the tape unchanged, instead of placeholders', {
      conflicts: ['redactEmail', 'vault'],
    }),
    redactEmail: option('--redact-email', switchOn, 'Also replace e-mail addresses with placeholders'),
    vault: vaultOption,
  }),
  ...inGroup('Output', {
    tail: option('--tail', switchOn, 'Print exchanges on stderr as they complete'),
    otlp: option(
      '--otlp <url>',
      collectorValue,
      'Send a span for each exchange to an OpenTelemetry collector, such as http://127.0.0.1:4318',
    ),
    quiet: option('-q, --quiet', switchOn, 'Print nothing unless the recording fails'),
  }),
}

/** A recording of a command to start, of a server at a URL, or of every server that a client uses. */
export type RecordArgs = RecordCommandArgs | RecordUrlArgs | RecordBridgeArgs | RecordForwardArgs

export interface RecordCommandArgs extends RecordTapeArgs {
  readonly kind: 'command'
  readonly command: readonly [string, ...string[]]
  /** How often the tape is played after the session, to learn noise. */
  readonly learn: number | undefined
}

export interface RecordUrlArgs extends RecordTapeArgs {
  readonly kind: 'url'
  readonly url: string
  readonly listen: ListenAddress | undefined
  /** Headers that the recorder adds to every request. */
  readonly headers: readonly AddedHeader[]
}

/** A server at a URL, for a client that speaks stdio. */
export interface RecordBridgeArgs extends Omit<RecordUrlArgs, 'kind' | 'listen'> {
  readonly kind: 'bridge'
}

export interface RecordForwardArgs extends RecordTapeArgs {
  readonly kind: 'forward'
  /** The client to start, if any. */
  readonly command: readonly [string, ...string[]] | undefined
  readonly listen: ListenAddress | undefined
}

/** Options that every kind of recording has. */
export interface RecordTapeArgs {
  readonly name: string | undefined
  readonly output: string | undefined
  /** What happens if the tape exists: the command is refused, the tape is replaced, or the name gets a number. */
  readonly ifExists: 'refuse' | 'overwrite' | 'number'
  readonly server: string | undefined
  readonly labels: TapeLabels
  readonly rules: RecordingRules
  readonly maxLineBytes: number
  /** Shows exchanges while they are recorded. */
  readonly tail: boolean
  /** Where spans are sent while the session goes on. */
  readonly otlp?: string | undefined
  readonly quiet: boolean
  readonly redact: RedactOption
  readonly intercept: InterceptArgs | undefined
  /** Decides about messages without a user. */
  readonly interceptor?: MessageInterceptor
}

/** How messages are held. */
interface InterceptArgs {
  readonly filter: string
  readonly holdLimitMs: number
  readonly onLimit: 'forward' | 'error'
  readonly http: ListenAddress | undefined
}

/** Reads the words after `reelay record`. Returns `undefined` if help is requested. */
export function parseRecordArgs(argv: readonly string[]): RecordArgs | undefined {
  const taken = takeOptionsAroundName(argv)
  if (taken === undefined) return undefined
  const { given, rest } = taken
  const flags = readOptions<RecordFlags>(RECORD_OPTIONS, given, { command: 'record' })
  const url = flags.url ?? flags.urlEnv
  if (flags.forward) return readForwardArgs(flags, rest)
  if (url !== undefined) return readUrlArgs(flags, url, readTapeName(rest))
  const { name, command } = splitNameAndCommand(rest)
  const [program, ...args] = command
  if (program === undefined || program === '') throw noCommand()
  const { learn } = flags
  return { kind: 'command', command: [program, ...args], learn, ...readTapeArgs(flags, name) }
}

/**
 * Takes the options before the name of the tape, and those between the name and `--`. Returns `undefined` if help is requested.
 */
function takeOptionsAroundName(
  argv: readonly string[],
): Pick<ReturnType<typeof takeOptions>, 'given' | 'rest'> | undefined {
  const { given, rest, isHelp } = takeOptions(argv, RECORD_OPTIONS, unknownOption)
  if (isHelp) return undefined
  const [name, ...after] = rest
  if (name !== undefined) rejectMisspelledOption(after)
  if (name === undefined || !startsWithOption(after)) return { given, rest }
  const hasUrl = after.some((word) => /^--url(-env)?(=|$)/.test(word))
  const more = takeOptions(after, RECORD_OPTIONS, (flag) =>
    hasUrl ? unknownOption(flag) : ambiguousArguments(rest),
  )
  const isComplete = more.rest.length === 0 || more.rest[0] === '--'
  const isUrl = more.given['url'] !== undefined || more.given['urlEnv'] !== undefined
  if (isUrl && !isComplete)
    throw usageError(`"${more.rest[0]}" is not needed`, 'with --url there is only the name of the tape')
  // Without `--`, the words may be a server command with options of its own, unless there is another kind of server.
  const hasServer = more.rest[0] === '--' || ['url', 'urlEnv', 'forward'].some((each) => more.given[each])
  if (more.isHelp || !isComplete || !hasServer) throw ambiguousArguments(rest)
  const merged = Object.entries(more.given).map(([key, values]) => [key, [...(given[key] ?? []), ...values]])
  return { given: { ...given, ...Object.fromEntries(merged) }, rest: [name, ...more.rest] }
}

/** Between the name of a tape and `--`, a word such as `--sever` is an option of `record`. */
function rejectMisspelledOption([flag = '', ...words]: readonly string[]): void {
  const isMisspelled = flag.startsWith('--') && flag !== '--' && words.includes('--')
  if (isMisspelled && !startsWithOption([flag, ...words]) && isMeantForRecord(flag, words))
    throw unknownOption(flag)
}

/** A server command may have such an option too. It is one of `record` if it is all that is between the name and `--`. */
function isMeantForRecord(flag: string, words: readonly string[]): boolean {
  const known = recordFlags()
  if (similarOption(flag, known) !== undefined) return true
  return insteadOfOption(flag, known) !== undefined && words.indexOf('--') <= 1
}

/** Returns true if the words after the name of a tape begin with an option of `record`. Words of a server command do not count. */
function startsWithOption(words: readonly string[]): boolean {
  const [flag = ''] = words[0]?.split('=', 1) ?? []
  const isOption = Object.values(RECORD_OPTIONS).some((row) => hasFlag(row, flag))
  return isOption && words.some((word) => word === '--' || /^--(url|url-env|forward)(=|$)/.test(word))
}

export function unknownOption(flag: string): ReelayError {
  if (flag === '--name' || flag === '-n')
    return usageError(
      `unknown option ${flag}`,
      'the name of the tape needs no option: reelay record my-tape -- <server command>',
    )
  const instead = insteadOfOption(flag, recordFlags())
  if (instead !== undefined) return usageError(`unknown option ${flag}`, instead)
  const similar = otherOptionName(flag, recordFlags()) ?? similarOption(flag, recordFlags())
  const rest = 'ptions of the server command go after it, or after --; see reelay record --help'
  return usageError(
    `unknown option ${flag}`,
    similar === undefined ? `o${rest}` : `did you mean ${similar}? O${rest}`,
  )
}

function recordFlags(): readonly string[] {
  return ['--help', '--help-all', ...Object.values(RECORD_OPTIONS).map(({ flag = '' }) => longFlag(flag))]
}

function readUrlArgs(
  flags: RecordFlags,
  url: string,
  name: string | undefined,
): RecordUrlArgs | RecordBridgeArgs {
  const headers = [...(flags.header ?? []), ...(flags.headerEnv ?? [])]
  const tape = readTapeArgs(flags, name)
  if (flags.bridge) return { kind: 'bridge', url, headers, ...tape }
  return { kind: 'url', url, headers, listen: flags.listen, ...tape }
}

function readForwardArgs(flags: RecordFlags, rest: readonly string[]): RecordForwardArgs {
  const at = rest.indexOf('--')
  const [name, extra] = at < 0 ? rest : rest.slice(0, at)
  const [program, ...args] = at < 0 ? [] : rest.slice(at + 1)
  if (extra !== undefined || (at >= 0 && program === undefined))
    throw usageError(
      'there is no client command after --',
      'for example: reelay record --forward my-tape -- node client.js',
    )
  const command = program === undefined ? undefined : ([program, ...args] as const)
  return { kind: 'forward', command, listen: flags.listen, ...readTapeArgs(flags, name) }
}

/** With a URL, only the name of the tape may follow the options. */
function readTapeName([name, extra]: readonly string[]): string | undefined {
  if (name === '--' || extra !== undefined)
    throw usageError('a URL and a server command are both given', 'use one of them')
  return name
}

/** Splits `name -- command`, `-- command` or `command`. Whatever could be read in two ways is rejected. */
function splitNameAndCommand(rest: readonly string[]): {
  name: string | undefined
  command: readonly string[]
} {
  const [first, second] = rest
  if (first === '--') return { name: undefined, command: rest.slice(1) }
  if (second === '--') return { name: first, command: rest.slice(2) }
  return { name: undefined, command: rest }
}

function noCommand(): ReelayError {
  return usageError(
    'there is no server command to record',
    'put it after --, as in: reelay record my-tape -- npx -y some-mcp-server',
  )
}

function ambiguousArguments(rest: readonly string[]): ReelayError {
  return usageError(
    `"${rest.join(' ')}" can be read in two ways: ${rest[0]} as the name of the tape, or as the server command`,
    'for a name, put the options before it; for a command, put -- before it',
  )
}

function readTapeArgs(flags: RecordFlags, name: string | undefined): RecordTapeArgs {
  const { output, server, only = [], skip = [], maxLine, cut, pending } = flags
  if (output !== undefined && name !== undefined)
    throw usageError(`the tape has both a file, ${output}, and a name, ${name}`, 'use either -o or a name')
  // `reelay wrap` writes a path in the place of the name, always together with --numbered.
  if (name !== undefined && isTapePath(name) && !flags.numbered)
    throw usageError(
      `${JSON.stringify(name)} is a path, not the name of a tape`,
      `for a path, use -o ${name}`,
    )
  return {
    name,
    output,
    ifExists: flags.overwrite ? 'overwrite' : flags.numbered ? 'number' : 'refuse',
    server,
    labels: readLabels(flags, process.env),
    rules: {
      only,
      skip,
      limits: readLimits(flags),
      ...(cut !== undefined && { cutBytes: cut * KIB }),
      ...(pending !== undefined && { pendingMs: pending }),
    },
    maxLineBytes: maxLine === undefined ? DEFAULT_MAX_LINE_BYTES : maxLine * MIB,
    tail: flags.tail ?? false,
    otlp: flags.otlp,
    quiet: flags.quiet ?? false,
    redact: readRedactOption(flags),
    intercept: readInterceptArgs(flags),
  }
}

function readInterceptArgs({
  intercept,
  holdLimit,
  onLimit,
  controlHttp,
}: RecordFlags): InterceptArgs | undefined {
  if (intercept === undefined) return undefined
  return {
    filter: intercept,
    holdLimitMs: holdLimit ?? DEFAULT_HOLD_LIMIT_MS,
    onLimit: onLimit ?? 'forward',
    http: controlHttp,
  }
}

/** Most clients wait 60 s for a response. */
const DEFAULT_HOLD_LIMIT_MS = 50_000

function readLimits({ maxSize, maxMessages, idle, rotate }: RecordFlags): RecordingLimits {
  return {
    ...(maxSize !== undefined && { maxBytes: maxSize * MIB }),
    ...(maxMessages !== undefined && { maxMessages }),
    ...(idle !== undefined && { idleMs: idle }),
    ...(rotate && { rotate }),
  }
}

function readRedactOption({ redact, redactEmail, vault }: RecordFlags): RedactOption {
  if (redact === false) return false
  return { ...(redactEmail && { email: true }), ...(vault !== undefined && { vault }) }
}

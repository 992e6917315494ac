import { RECORD_OPTIONS } from './record-options.ts'
import { ReelayError } from '../../errors.ts'
import { HARD_MAX_LINE_BYTES, DEFAULT_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import type { RecordingRules, RecordingLimits } from '../../record/limits.ts'
import type { RedactOption } from '../../record/redaction.ts'
import { labelsFromEnv, parseTag } from '../../record/tape-header.ts'
import { TEXT_LABELS, pickLabels, type TapeLabels } from '../../tape/header.ts'

/** A server command to start, the URL of a server that runs, or whatever a client names. */
export type RecordArgs = RecordCommandArgs | RecordUrlArgs | RecordBridgeArgs | RecordForwardArgs

export interface RecordCommandArgs extends RecordTapeArgs {
  readonly kind: 'command'
  readonly command: readonly [string, ...string[]]
}

export interface RecordUrlArgs extends RecordTapeArgs {
  readonly kind: 'url'
  readonly url: string
  readonly listen: string | undefined
  /** What the recorder adds to every request. */
  readonly headers: readonly HeaderArg[]
}

/** A header as the command line says it: with its value, or with the variable that holds the value. */
export type HeaderArg =
  | { readonly kind: 'written'; readonly text: string }
  /** One that `mayBeMissing` is left out when there is no such variable, or nothing in it. */
  | {
      readonly kind: 'variable'
      readonly name: string
      readonly variable: string
      readonly mayBeMissing: boolean
    }

/** A server at a URL for a client that speaks stdio to us. */
export interface RecordBridgeArgs extends Omit<RecordUrlArgs, 'kind' | 'listen'> {
  readonly kind: 'bridge'
}

export interface RecordForwardArgs extends RecordTapeArgs {
  readonly kind: 'forward'
  /** The client to start, if any. */
  readonly command: readonly [string, ...string[]] | undefined
  readonly listen: string | undefined
}

/**
 * Reads what follows `reelay record`; undefined when help was asked for. Not commander's job: the server must be
 * started before anything of that size is loaded.
 */
export function parseRecordArgs(argv: readonly string[]): RecordArgs | undefined {
  const { given, rest } = takeRecordOptions(argv)
  if (given.some(({ long }) => long === '--help')) return undefined
  const last = lastValueOf(given)
  const url = readUrlOption(given)
  if (last('--forward') !== undefined) return readForwardArgs(given, rest)
  if (url !== undefined) return readUrlArgs(given, url, readTapeName(rest))
  if (last('--bridge') !== undefined)
    throw recordUsageError('--bridge leads to a server at a URL: give its --url too')
  if (last('--header') !== undefined || last('--header-env') !== undefined) throw headerWithoutUrl()
  if (last('--listen') !== undefined)
    throw recordUsageError('--listen is for a proxy, and neither --url nor --forward is given')
  const { name, command } = splitNameAndCommand(rest)
  const [file, ...args] = command
  if (file === undefined || file === '') throw noCommand()
  return { kind: 'command', command: [file, ...args], ...readTapeArgs(given, name) }
}

function readUrlOption(given: readonly GivenOption[]): string | undefined {
  const { long, value } = given.findLast((each) => each.long === '--url' || each.long === '--url-env') ?? {}
  if (long !== '--url-env' || value === undefined) return value
  const url = process.env[value]
  if (url) return url
  throw recordUsageError(
    `--url-env needs ${value}, which is not in the environment`,
    'set it to the URL of the server, or give --url',
  )
}

function readUrlArgs(
  given: readonly GivenOption[],
  url: string,
  name: string | undefined,
): RecordUrlArgs | RecordBridgeArgs {
  const last = lastValueOf(given)
  const headers = given.flatMap(readHeaderArg)
  const rest = { url, headers, ...readTapeArgs(given, name) }
  if (last('--bridge') === undefined) return { kind: 'url', listen: last('--listen'), ...rest }
  if (last('--listen') !== undefined)
    throw recordUsageError(
      '--listen and --bridge',
      'give one of the two: a bridge is started by its client, and does not listen',
    )
  return { kind: 'bridge', ...rest }
}

function readHeaderArg({ long, value }: GivenOption): readonly HeaderArg[] {
  if (long === '--header') return [{ kind: 'written', text: value }]
  if (long !== '--header-env') return []
  const [, name, variable, mark] = /^([^=:\s]+)=([^\s{}?]+)(\?)?$/.exec(value) ?? []
  if (name === undefined || variable === undefined)
    throw recordUsageError(
      '--header-env is not of the form Name=VARIABLE, or Name=VARIABLE? for one that may be missing',
    )
  return [{ kind: 'variable', name, variable, mayBeMissing: mark !== undefined }]
}

function readForwardArgs(given: readonly GivenOption[], rest: readonly string[]): RecordForwardArgs {
  const last = lastValueOf(given)
  if (readUrlOption(given) !== undefined)
    throw recordUsageError(
      '--url and --forward',
      'give one of the two: --forward records whatever the client names',
    )
  if (last('--header') !== undefined || last('--header-env') !== undefined) throw headerWithoutUrl()
  const at = rest.indexOf('--')
  const [name, extra] = at < 0 ? rest : rest.slice(0, at)
  const [file, ...args] = at < 0 ? [] : rest.slice(at + 1)
  if (extra !== undefined || (at >= 0 && file === undefined))
    throw recordUsageError(
      'no client command behind --',
      'as in: reelay record --forward my-tape -- node client.js',
    )
  const command = file === undefined ? undefined : ([file, ...args] as const)
  return { kind: 'forward', command, listen: last('--listen'), ...readTapeArgs(given, name) }
}

/** With a URL, there is nothing behind our options but the tape's name. */
function readTapeName([name, extra]: readonly string[]): string | undefined {
  if (name === '--' || extra !== undefined)
    throw recordUsageError('a URL and a server command', 'give one of the two; options stand before the name')
  return name
}

/** `name -- command`, `-- command` or just `command`; whatever could be read in two ways is refused. */
function splitNameAndCommand(rest: readonly string[]): {
  name: string | undefined
  command: readonly string[]
} {
  const [first, second] = rest
  if (second === '--url' || second?.startsWith('--url=') === true) throw ambiguousArguments(rest)
  if (first === '--') return { name: undefined, command: rest.slice(1) }
  if (second === '--') return { name: first, command: rest.slice(2) }
  const dashes = rest.indexOf('--')
  if (dashes > 1 && rest.slice(1, dashes).every(looksLikeRecordOption)) throw ambiguousArguments(rest)
  return { name: undefined, command: rest }
}

function looksLikeRecordOption(word: string, index: number, words: readonly string[]): boolean {
  const names = RECORD_OPTIONS.flatMap(({ short, long }) => [short, long])
  return names.includes(word as never) || names.includes(words[index - 1] as never)
}

function noCommand(): ReelayError {
  return recordUsageError(
    'no server command to record',
    'put it behind --, as in: reelay record my-tape -- npx -y some-mcp-server',
  )
}

function headerWithoutUrl(): ReelayError {
  return recordUsageError(
    '--header is for the proxy of --url, which is not given',
    'a server command takes its secrets from the environment; --forward passes on what its client sends',
  )
}

function ambiguousArguments(rest: readonly string[]): ReelayError {
  return recordUsageError(
    `"${rest.join(' ')}" can be read in two ways: ${rest[0]} as the tape's name, or as the server command`,
    `for a name, put the options before it; for a command, put -- before it`,
  )
}

/** An option of `reelay record`, with its value; `''` for one that takes none. */
type GivenOption = { readonly long: string; readonly value: string }

/** Takes our options off the front; what follows them belongs to the server command, flags and all. */
function takeRecordOptions(argv: readonly string[]): {
  given: readonly GivenOption[]
  rest: readonly string[]
} {
  const given: GivenOption[] = []
  let at = 0
  for (let word = argv[at]; word !== undefined && isFlag(word); word = argv[at]) {
    const { option, inline } = findRecordOption(word)
    const value = option.value === undefined ? '' : (inline ?? argv[++at])
    if (value === undefined) throw recordUsageError(`${option.long} needs a value: <${option.value}>`)
    given.push({ long: option.long, value })
    at++
  }
  return { given, rest: argv.slice(at) }
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '--' && word !== '-'
}

function findRecordOption(word: string): {
  option: { long: string; value: string | undefined }
  inline: string | undefined
} {
  if (word === '-h' || word === '--help')
    return { option: { long: '--help', value: undefined }, inline: undefined }
  const [flag, inline] =
    word.startsWith('--') && word.includes('=') ? splitOnce(word, '=') : [word, undefined]
  const option = RECORD_OPTIONS.find(({ short, long }) => flag === long || flag === short)
  if (option === undefined)
    throw recordUsageError(
      `unknown option ${flag}`,
      'options of the server command go behind it, or behind --',
    )
  if (inline !== undefined && option.value === undefined) throw recordUsageError(`${flag} takes no value`)
  return { option, inline }
}

function splitOnce(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The value of an option: of the last, where it is given several times. */
function lastValueOf(given: readonly GivenOption[]): (long: string) => string | undefined {
  return (long) => given.findLast((each) => each.long === long)?.value
}

const BYTES_PER_MIB = 1024 * 1024

/** What is said of the tape, whatever is recorded. */
export interface RecordTapeArgs {
  readonly name: string | undefined
  readonly output: string | undefined
  readonly server: string | undefined
  readonly labels: TapeLabels
  readonly rules: RecordingRules
  readonly maxLineMiB: number
  /** Show exchanges while they are recorded. */
  readonly tail: boolean
  readonly quiet: boolean
  readonly redact: RedactOption
}

function readTapeArgs(given: readonly GivenOption[], name: string | undefined): RecordTapeArgs {
  const last = lastValueOf(given)
  const output = last('--output')
  if (output !== undefined && /(^|[/\\])$/.test(output))
    throw recordUsageError(`--output "${output}" names no file`)
  if (output !== undefined && name !== undefined) throw outputAndName(output, name)
  return {
    name,
    output,
    server: last('--server'),
    labels: readRecordLabels(given),
    rules: {
      only: readMethodList(given, '--only'),
      skip: readMethodList(given, '--skip'),
      ...readTapeRules(last),
    },
    maxLineMiB: readCountOption(
      '--max-line',
      last('--max-line') ?? String(DEFAULT_MAX_LINE_BYTES / BYTES_PER_MIB),
      HARD_MAX_LINE_BYTES / BYTES_PER_MIB,
    ),
    tail: last('--tail') !== undefined,
    quiet: last('--quiet') !== undefined,
    redact: readRedactOption(last),
  }
}

function readRedactOption(last: (long: string) => string | undefined): RedactOption {
  const isOff = last('--no-redact') !== undefined
  const email = last('--redact-email') !== undefined
  const vault = last('--vault')
  if (isOff && email) throw recordUsageError('--no-redact and --redact-email', 'give one of the two')
  if (isOff && vault !== undefined)
    throw recordUsageError('--no-redact and --vault', 'without stand-ins there is nothing to keep in a vault')
  return isOff ? false : { ...(email && { email }), ...(vault !== undefined && { vault }) }
}

/** What the command line says counts for more than what the environment says. */
function readRecordLabels(given: readonly GivenOption[]): TapeLabels {
  const { tags, ...ids } = labelsFromEnv(process.env)
  const said = TEXT_LABELS.flatMap((id) =>
    given.filter(({ long }) => long === `--${id}`).map(({ value }) => [id, value]),
  )
  const tagged = given.filter(({ long }) => long === '--tag').map(({ value }) => parseTag('--tag', value))
  return pickLabels({ ...ids, ...Object.fromEntries(said), tags: { ...tags, ...Object.fromEntries(tagged) } })
}

function readMethodList(given: readonly GivenOption[], long: string): readonly string[] {
  const lists = given.filter((each) => each.long === long).map(({ value }) => value.split(','))
  return lists.flat().map((method) => method.trim())
}

function outputAndName(output: string, name: string): ReelayError {
  return recordUsageError(
    `two places for one tape: the file ${output} and the name ${name}`,
    'give either -o or a name',
  )
}

const KIB = 1024
const MIB = 1024 * 1024
const MAX_COUNT = 1_000_000_000
/** A timer of Node holds no more. */
const MAX_SECONDS = 2_000_000

type CountReader = (long: string, max?: number) => number | undefined

/** The limits and other numbers among the options of `record`; `last` gives the value that an option was given last. */
function readTapeRules(
  last: (long: string) => string | undefined,
): Pick<RecordingRules, 'limits' | 'cutBytes' | 'pendingMs'> {
  const count: CountReader = (long, max = MAX_COUNT) => {
    const text = last(long)
    return text === undefined ? undefined : readCountOption(long, text, max)
  }
  const [kilobytes, seconds] = [count('--cut'), count('--pending', MAX_SECONDS)]
  return {
    limits: readRecordLimits(count, last('--rotate') !== undefined),
    ...(kilobytes !== undefined && { cutBytes: kilobytes * KIB }),
    ...(seconds !== undefined && { pendingMs: seconds * 1000 }),
  }
}

function readRecordLimits(count: CountReader, rotate: boolean): RecordingLimits {
  const [megabytes, maxMessages] = [count('--max-size'), count('--max-messages')]
  const seconds = count('--idle', MAX_SECONDS)
  if (rotate && megabytes === undefined && maxMessages === undefined && seconds === undefined) {
    throw recordUsageError('--rotate without a limit', 'say when: --max-size, --max-messages or --idle')
  }
  return {
    ...(megabytes !== undefined && { maxBytes: megabytes * MIB }),
    ...(maxMessages !== undefined && { maxMessages }),
    ...(seconds !== undefined && { idleMs: seconds * 1000 }),
    ...(rotate && { rotate }),
  }
}

/** A whole number from 1 on. */
function readCountOption(long: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > max)
    throw recordUsageError(`${long} ${text} is not a number from 1 to ${max}`)
  return value
}

/** What is wrong with the command line, and where to look. */
export function recordUsageError(message: string, hint = 'see reelay record --help'): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}

import type { ReelayError } from '../../errors.ts'
import { recordUsageError } from '../record-limits.ts'
import { RECORD_OPTIONS } from './record-options.ts'
import { lastValueOf, takeRecordOptions, type GivenOption } from '../taken-options.ts'
import { readTapeArgs, type RecordTapeArgs } from '../tape-args.ts'

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

import { toFaultRules, type FaultRule, type FaultSetting } from '../faults/fault-rules.ts'
import type { Miss } from '../match/miss/miss.ts'
import {
  type SuggestedMatchOptions,
  type MatchOptions,
  readMatchSettings,
  mergeMatchSettings,
  type MatchSettings,
} from '../match/options.ts'
import { redactServerInfo } from '../redact/redact-tape.ts'
import { RecordedHeads, withoutTransportErrors } from './http/recorded-http.ts'
import { parseOverrides } from './overrides.ts'
import { type PlayableTape, resolveServer } from './playable-tape.ts'
import { parsePace } from './player/clock.ts'
import { RecordedServer } from './player/recorded-server.ts'
import type { PlayOptions, SessionPlayerSetup } from './player/session-player.ts'
import { createClientRedaction } from './redaction/client-redaction.ts'
import { createThrowawayRedactor } from './redaction/report-redactor.ts'
import type { TapeServer } from '../tape/header.ts'
import { type ClientCall, type Turn, turnStoreOf } from '../tape/turns.ts'
import { isTapePath } from '../store/home.ts'
import { quoteShellWord, quoteTapeArgument } from '../text.ts'

/** Options of every way to serve a tape. */
export interface ServeOptions extends MatchOptions, Omit<PlayOptions, 'pace' | 'faults'> {
  readonly tape: PlayableTape
  /** The tape as the user named it, for reports. The default is its path. */
  readonly name?: string
  /** Serves clients of this protocol version, although the tape was recorded in the other era. */
  readonly as?: string
  /** The server to play. Required if the tape has several. */
  readonly server?: string
  /** Command-line options of this run that are not about matching. Suggested commands repeat them. */
  readonly flags?: readonly string[]
  /** Match settings with the lowest priority, after the options and the rules stored beside the tape. */
  readonly settings?: MatchSettings
  /** The command that records the session again, for reports of misses. The default is `reelay record` with the recorded command. */
  readonly recordCommand?: () => string | undefined
  /** Secrets of the live client that the redaction rules and the environment do not show. The tape has placeholders for them. */
  readonly secrets?: readonly string[]
  /** The time for comparing dates and for HTTP `Date` headers. The default is the system time. */
  readonly now?: () => number
  /** `recorded` keeps the recorded times, a number is a factor of speed. The default is `none`. */
  readonly pace?: 'none' | 'recorded' | `x${number}` | number
  /** The longest single wait that `pace` causes, in milliseconds. */
  readonly paceCap?: number
  readonly faults?: readonly FaultSetting[] | readonly FaultRule[]
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
  /** Called for each request that is answered from the tape, except when its last response is repeated. */
  readonly onPlayed?: (turn: Turn) => void
  /** Called immediately for each request that is forwarded to a live server. */
  readonly onLive?: (asked: ClientCall) => void
}

/** Checks the options and returns the setup of a session. `commandFor` formats the command that would accept a miss. */
export function sessionPlayerOptions(
  options: ServeOptions,
  commandFor: (loosening: SuggestedMatchOptions) => string | undefined,
  { repeatsLists = true }: { readonly repeatsLists?: boolean } = {},
): SessionPlayerSetup {
  const { tape, name, server, now, order, onClientAnswer, seed, clock, onMiss, onNote, onPlayed, onLive } =
    options
  const given = pickMatchOptions(options)
  const played = resolveServer(tape, server)
  return {
    recordedServer: new RecordedServer({
      ...mergeMatchSettings(given, storedMatchSettings(tape), options.settings ?? { rules: [] }),
      given,
      turns: withoutTransportErrors(turnStoreOf(tape.turns), new RecordedHeads(tape.rest)),
      started: tape.header.started,
      server: played,
      tape: name ?? tape.path,
      repeatsLists,
      commandFor,
      redaction: createClientRedaction(tape.header, { values: options.secrets }),
      recordCommand:
        options.recordCommand ??
        once(() => recordCommandLine(name ?? tape.path, redactedServerInfo(tape, played))),
      ...(now && { now }),
    }),
    overrides: parseOverrides({ overrides: options.overrides ?? [] }),
    faults: toFaultRules(options.faults ?? []),
    pace: parsePace(String(options.pace ?? 'none'), options.paceCap),
    order,
    onClientAnswer,
    seed,
    clock,
    onMiss,
    onNote,
    onPlayed,
    onLive,
  }
}

/** Creating the redactor takes a while, and not every run needs the command. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

/** Returns what the tape says about a server, without the secrets of its command line. */
function redactedServerInfo({ header }: PlayableTape, server: string): TapeServer | Record<string, never> {
  const info = header.servers[server]
  if (info === undefined) return {}
  return redactServerInfo(info, header.redaction === undefined ? createThrowawayRedactor() : undefined)
}

/** Returns the rules that are stored beside a tape. */
export function storedMatchSettings({ matchFile }: Pick<PlayableTape, 'matchFile'>): MatchSettings {
  return matchFile === undefined ? { rules: [] } : readMatchSettings(matchFile.value, matchFile.path)
}

function pickMatchOptions({ match, rules, ignore, permissive }: ServeOptions): MatchOptions {
  return {
    ...(match !== undefined && { match }),
    ...(rules && { rules }),
    ...(ignore && { ignore }),
    ...(permissive !== undefined && { permissive }),
  }
}

/** Formats the command that serves a tape with these options, quoted for a shell. */
export function serveCommandLine(
  tape: string,
  server: string | undefined,
  { match, rules, ignore, permissive, server: other = server }: SuggestedMatchOptions,
): string {
  return [
    'reelay serve',
    quoteTapeArgument(tape),
    ...(other === undefined ? [] : ['--server', quoteShellWord(other)]),
    ...(match === undefined ? [] : ['--match', quoteShellWord(match)]),
    ...ignore.flatMap((path) => ['--ignore', quoteShellWord(path)]),
    ...rules.flatMap((rule) => ['--rule', quoteShellWord(rule)]),
    ...(permissive ? ['--permissive'] : []),
  ].join(' ')
}

/** Formats the command that records the same server again. Returns `undefined` if the tape does not say how. */
function recordCommandLine(
  tape: string,
  { command, url }: Pick<TapeServer, 'command' | 'url'>,
): string | undefined {
  const target = isTapePath(tape) ? `-o ${quoteTapeArgument(tape)}` : quoteTapeArgument(tape)
  const record = `reelay record ${target} --overwrite`
  if (command !== undefined) return `${record} -- ${command.map(quoteShellWord).join(' ')}`
  return url === undefined ? undefined : `${record} --url ${quoteShellWord(url)}`
}

/** Formats the library call that plays a tape with these options. */
export function libraryCallText(
  call: string,
  { server, match, ignore, rules, permissive }: SuggestedMatchOptions,
): string {
  const options = [
    ...(server === undefined ? [] : [`server: ${JSON.stringify(server)}`]),
    ...(match === undefined ? [] : [`match: ${JSON.stringify(match)}`]),
    ...(ignore.length === 0 ? [] : [`ignore: ${JSON.stringify(ignore)}`]),
    ...(rules.length === 0 ? [] : [`rules: ${JSON.stringify(rules)}`]),
    ...(permissive ? ['permissive: true'] : []),
  ]
  return `${call}(tape, { ${options.join(', ')} })`
}

import type { ClientCall } from '../tape/turns.ts'
import {
  type SuggestedMatchOptions,
  type MatchOptions,
  readMatchSettings,
  mergeMatchSettings,
  type MatchSettings,
} from '../match/options.ts'
import type { Miss } from '../match/miss/miss.ts'
import { redactServerInfo } from '../redact/redact-tape.ts'
import type { TapeServer } from '../tape/header.ts'
import { recordCommandLine } from './suggested-commands.ts'
import { toFaultRules, type FaultRule, type FaultSetting } from '../faults/fault-rules.ts'
import { RecordedHeads, withoutTransportErrors } from './http/recorded-http.ts'
import { createClientRedaction } from './redaction/client-redaction.ts'
import { parseOverrides } from './overrides.ts'
import { parsePace } from './player/clock.ts'
import { type PlayableTape, resolveServer } from './playable-tape.ts'
import { turnStoreOf } from '../tape/turns.ts'
import type { PlayOptions, SessionPlayerSetup } from './player/session-player.ts'
import { createThrowawayRedactor } from './redaction/report-redactor.ts'
import { RecordedServer } from './player/recorded-server.ts'

/** How a tape is to be served, in whatever way it is. */
export interface ServeOptions extends MatchOptions, Omit<PlayOptions, 'pace' | 'faults'> {
  readonly tape: PlayableTape
  /** The tape as the user named it, for reports; by default its path. */
  readonly name?: string
  /** Which server to be, when the tape holds several. */
  readonly server?: string
  /** The options of this run that are not about matching, as words of the command line: commands that are advised have them too. */
  readonly flags?: readonly string[]
  /** How requests are matched where neither the options nor the rules beside the tape say. */
  readonly settings?: MatchSettings
  /** Values of the live client that have stand-ins on the tape, beside those that its rules and the environment tell. */
  readonly secrets?: readonly string[]
  /** The time, by which dates in requests are judged and answers over HTTP are dated; by default that of the clock on the wall. */
  readonly now?: () => number
  /** `recorded`, or how many times as fast; by default nothing is waited for. */
  readonly pace?: 'none' | 'recorded' | `x${number}` | number
  /** No single wait for the sake of the pace is longer, in milliseconds. */
  readonly paceCap?: number
  readonly faults?: readonly FaultSetting[] | readonly FaultRule[]
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
  /** Told at once of what goes to the live server, where there is one. */
  readonly onLive?: (asked: ClientCall) => void
}

/** `commandFor` says how the user would give the options that accept a miss. */
export function sessionPlayerOptions(
  options: ServeOptions,
  commandFor: (loosening: SuggestedMatchOptions) => string,
): SessionPlayerSetup {
  const { tape, name, server, now, onMiss, onNote, onLive } = options
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
      commandFor,
      redaction: createClientRedaction(tape.header, { values: options.secrets }),
      recordCommand: once(() => recordCommandLine(redactedServerInfo(tape, played))),
      ...(now && { now }),
    }),
    ...(onMiss && { onMiss }),
    ...(onNote && { onNote }),
    ...(onLive && { onLive }),
    ...parsePlayOptions(options),
  }
}

/** A redactor is made for it, which takes a while; and the answer stays the same. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

/** What a tape says of a server, as it may be shown: its command line may hold a secret. */
function redactedServerInfo({ header }: PlayableTape, server: string): TapeServer | Record<string, never> {
  const info = header.servers[server]
  if (info === undefined) return {}
  return redactServerInfo(info, header.redaction === undefined ? createThrowawayRedactor() : undefined)
}

/** The rules that are stored beside a tape. */
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
/** The options of playing, read once and refused when they make no sense. */
function parsePlayOptions(options: Omit<ServeOptions, 'tape'>): PlayOptions {
  const { order, onClientAnswer, seed, clock } = options
  const pace = parsePace(String(options.pace ?? 'none'), options.paceCap)
  return {
    overrides: parseOverrides({ overrides: options.overrides ?? [] }),
    faults: toFaultRules(options.faults ?? []),
    ...(pace && { pace }),
    ...(order && { order }),
    ...(onClientAnswer && { onClientAnswer }),
    ...(seed !== undefined && { seed }),
    ...(clock && { clock }),
  }
}

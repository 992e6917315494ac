import type { Asked } from '../match/key.ts'
import type { Loosening } from '../match/loosening.ts'
import type { MatchOptions } from '../match/match-options.ts'
import type { Miss } from '../match/miss.ts'
import { readMatchSettings, withSettings, type MatchSettings } from '../match/settings.ts'
import { redactedServer } from '../redact/redacted-header.ts'
import type { ServerInfo } from '../tape/header.ts'
import { recordCommandLine } from './command-line.ts'
import { readFaults, type FaultRule, type FaultSetting } from './fault-rules.ts'
import { RecordedHeads } from './http/recorded-heads.ts'
import { withoutRefusals } from './http/transport-refusals.ts'
import { liveRedaction } from './live-redaction.ts'
import { readOverrides } from './overrides.ts'
import { readPace } from './pace.ts'
import { storeOf, type PlayedTape } from './played-tape.ts'
import type { PlayOptions } from './play-options.ts'
import type { PlayerOptions } from './player.ts'
import { screenRedactor } from './screen.ts'
import { Script } from './script.ts'
import { whichServer } from './which-server.ts'

/** How a tape is to be served, in whatever way it is. */
export interface ServeOptions extends MatchOptions, Omit<PlayOptions, 'pace' | 'faults'> {
  readonly tape: PlayedTape
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
  readonly onLive?: (asked: Asked) => void
}

/** `commandFor` says how the user would give the options that accept a miss. */
export function playerOptions(
  options: ServeOptions,
  commandFor: (loosening: Loosening) => string,
): Omit<PlayerOptions, 'send' | 'later'> {
  const { tape, name, server, now, onMiss, onNote, onLive } = options
  const given = matchOptionsIn(options)
  const played = whichServer(tape, server)
  return {
    script: new Script({
      ...withSettings(given, besideTape(tape), options.settings ?? { rules: [] }),
      given,
      turns: withoutRefusals(storeOf(tape.turns), new RecordedHeads(tape.rest)),
      started: tape.header.started,
      server: played,
      tape: name ?? tape.path,
      commandFor,
      redaction: liveRedaction(tape.header, { values: options.secrets }),
      recordCommand: once(() => recordCommandLine(shownServer(tape, played))),
      ...(now && { now }),
    }),
    ...(onMiss && { onMiss }),
    ...(onNote && { onNote }),
    ...(onLive && { onLive }),
    ...playOptions(options),
  }
}

/** A redactor is made for it, which takes a while; and the answer stays the same. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

/** What a tape says of a server, as it may be shown: its command line may hold a secret. */
function shownServer({ header }: PlayedTape, server: string): ServerInfo | Record<string, never> {
  const info = header.servers[server]
  if (info === undefined) return {}
  return redactedServer(info, header.redaction === undefined ? screenRedactor() : undefined)
}

/** The rules that are stored beside a tape. */
export function besideTape({ matchFile }: Pick<PlayedTape, 'matchFile'>): MatchSettings {
  return matchFile === undefined ? { rules: [] } : readMatchSettings(matchFile.value, matchFile.path)
}

function matchOptionsIn({ match, rules, ignore, permissive }: ServeOptions): MatchOptions {
  return {
    ...(match !== undefined && { match }),
    ...(rules && { rules }),
    ...(ignore && { ignore }),
    ...(permissive !== undefined && { permissive }),
  }
}
/** The options of playing, read once and refused when they make no sense. */
function playOptions(options: Omit<ServeOptions, 'tape'>): PlayOptions {
  const { order, onClientAnswer, seed, clock } = options
  const pace = readPace(String(options.pace ?? 'none'), options.paceCap)
  return {
    overrides: readOverrides({ overrides: options.overrides ?? [] }),
    faults: faultRules(options.faults ?? []),
    ...(pace && { pace }),
    ...(order && { order }),
    ...(onClientAnswer && { onClientAnswer }),
    ...(seed !== undefined && { seed }),
    ...(clock && { clock }),
  }
}

// Those of a file are read where the file is.
function faultRules(faults: readonly FaultSetting[] | readonly FaultRule[]): readonly FaultRule[] {
  return faults.every(isRule) ? faults : readFaults({ faults })
}

function isRule(fault: FaultSetting | FaultRule): fault is FaultRule {
  return 'when' in fault && 'fault' in fault
}

import type { Loosening } from '../match/loosening.ts'
import type { Miss } from '../match/miss.ts'
import type { Tape } from '../store/read.ts'
import { readFaults, type FaultRule, type FaultSetting } from './fault-rules.ts'
import { readOverrides } from './overrides.ts'
import { readPace } from './pace.ts'
import type { PlayOptions } from './play-options.ts'
import type { PlayerOptions } from './player.ts'
import { Script } from './script.ts'
import { whichServer } from './which-server.ts'

/** How a tape is to be served, in whatever way it is. */
export interface ServeOptions extends Omit<PlayOptions, 'pace' | 'faults'> {
  readonly tape: Tape
  /** The tape as the user named it, for reports; by default its path. */
  readonly name?: string
  /** Which server to be, when the tape holds several. */
  readonly server?: string
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. */
  readonly permissive?: boolean
  /** `recorded`, or how many times as fast; by default nothing is waited for. */
  readonly pace?: 'none' | 'recorded' | `x${number}` | number
  /** No single wait for the sake of the pace is longer, in milliseconds. */
  readonly paceCap?: number
  readonly faults?: readonly FaultSetting[] | readonly FaultRule[]
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
}

/** `commandFor` says how the user would give the options that accept a miss. */
export function playerOptions(
  options: ServeOptions,
  commandFor: (loosening: Loosening) => string,
): Omit<PlayerOptions, 'send' | 'later'> {
  const { tape, name, server, ignore = [], permissive = false, onMiss, onNote } = options
  return {
    script: new Script({
      turns: tape.turns,
      server: whichServer(tape, server),
      tape: name ?? tape.path,
      ignore,
      permissive,
      commandFor,
    }),
    ...(onMiss && { onMiss }),
    ...(onNote && { onNote }),
    ...playOptions(options),
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

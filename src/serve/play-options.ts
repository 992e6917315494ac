import type { ClientAnswerPolicy } from './player/server-requests.ts'
import type { Clock } from './player/clock.ts'
import type { FaultRule } from './faults/fault-rules.ts'
import type { Override } from './overrides.ts'
import type { Pace } from './player/pace.ts'

/** How a tape is played. By default each request gets what was recorded, and gets it at once. */
export interface PlayOptions {
  /** Keeps the recorded times; without it nothing is waited for. */
  readonly pace?: Pace
  /** `recorded`: calls that overlapped on the tape are answered in the order in which they were answered there. */
  readonly order?: 'any' | 'recorded'
  /** What an answer of the client means that is not the recorded one. */
  readonly onClientAnswer?: ClientAnswerPolicy
  readonly overrides?: readonly Override[]
  readonly faults?: readonly FaultRule[]
  /** For everything that happens by chance, also the ids of sessions: the same seed, the same run. */
  readonly seed?: number
  /** The clock for every wait; by default the one on the wall. */
  readonly clock?: Clock
}

/** Whether a run gives each request its recorded answer, at once and as it stands: then there are shorter ways to do so. */
export function isPlainRun({ pace, order = 'any', overrides = [], faults = [] }: PlayOptions): boolean {
  return pace === undefined && order === 'any' && overrides.length === 0 && faults.length === 0
}

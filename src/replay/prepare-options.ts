import type { FoundBindings } from '../bindings/binding.ts'
import type { ReplayController } from './controller.ts'
import type { ReplayOptions } from './options.ts'
import type { RunMonitor } from './run-state.ts'

/** What a run is prepared with. */
export interface RunOptions extends Omit<ReplayOptions, 'correlate'> {
  /** When the recording began. */
  readonly started: string
  readonly now: () => number
  readonly controller: ReplayController
  /** Looks on. */
  readonly watch: RunMonitor
  /** Finds the bindings of the tape, once; how does not matter here. */
  readonly bindings: () => Promise<FoundBindings | false>
}

/** Milliseconds that an answer may take, unless the user says otherwise. */
export const DEFAULT_TIMEOUT = 10_000

/** Milliseconds that a message of the server may be late. */
export const SERVER_GRACE = 2000

import type { Correlation } from '../correlate/binding.ts'
import type { Controller } from './controller.ts'
import type { ReplayOptions } from './options.ts'
import type { RunWatch } from './run-state.ts'

/** What a run is prepared with. */
export interface PrepareOptions extends Omit<ReplayOptions, 'correlate'> {
  /** When the recording began. */
  readonly started: string
  readonly now: () => number
  readonly controller: Controller
  /** Looks on. */
  readonly watch: RunWatch
  /** Finds the bindings of the tape, once; how does not matter here. */
  readonly bindings: () => Promise<Correlation | false>
}

/** Milliseconds that an answer may take, unless the user says otherwise. */
export const TIMEOUT = 10_000

/** Milliseconds that a message of the server may be late. */
export const GRACE = 2000

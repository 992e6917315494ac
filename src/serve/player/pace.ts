import { ReelayError } from '../../errors.ts'
import type { Clock } from './clock.ts'

/** How fast a tape is played: 1 is the recorded time, 2 twice as fast. */
export interface Pace {
  readonly speed: number
  /** No single wait is longer, in milliseconds. */
  readonly cap?: number
}

/** Reads `none`, `recorded`, `x2` and `2`; no pace means that nothing is waited for. */
export function parsePace(text: string, cap?: number): Pace | undefined {
  if (text === 'none') return undefined
  const speed = text === 'recorded' ? 1 : Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1])
  if (speed > 0) return { speed, ...(cap !== undefined && { cap }) }
  throw new ReelayError('USAGE', `${JSON.stringify(text)} is no pace`, {
    hint: 'none, recorded, or how many times as fast as recorded: x2, x0.5',
  })
}

/** When the steps of one turn are due: as long after what came before as on the tape, at the chosen pace. */
export class Pacer {
  readonly #pace: Pace
  readonly #clock: Clock
  #recorded: number
  #live: number

  /** `recorded` is when the turn began on the tape. */
  constructor(pace: Pace, clock: Clock, recorded: number) {
    this.#pace = pace
    this.#clock = clock
    this.#recorded = recorded
    this.#live = clock.now()
  }

  /** What the tape has at that time has happened just now, whenever it was due. */
  restartAt(recorded: number): void {
    this.#recorded = recorded
    this.#live = this.#clock.now()
  }

  /** What the tape has at that time was played when it was due. */
  markPlayed(recorded: number): void {
    this.#live = this.#due(recorded)
    this.#recorded = recorded
  }

  /** How many milliseconds are left until then. */
  wait(recorded: number): number {
    return Math.max(0, this.#due(recorded) - this.#clock.now())
  }

  #due(recorded: number): number {
    const { speed, cap = Infinity } = this.#pace
    return this.#live + Math.min(cap, Math.max(0, recorded - this.#recorded) / speed)
  }
}

import { WallClock } from './clock.ts'

// Long enough for an idle client to read what was written before, short enough not to be felt.
const REST_MS = 50

/** Short waits in which the client can read what was sent; the end of a run waits for those under way. */
export class Rests {
  readonly #clock: WallClock

  constructor(clock: WallClock = new WallClock()) {
    this.#clock = clock
  }

  readonly later = (resume: () => void): void => this.#clock.after(REST_MS, resume)

  over(): Promise<void> {
    return this.#clock.over()
  }
}

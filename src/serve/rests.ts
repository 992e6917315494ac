import { SystemClock } from './player/clock.ts'

// Long enough for an idle client to read what was written before, short enough not to be felt.
const PAUSE_MS = 50

/** Short waits in which the client can read what was sent; the end of a run waits for those under way. */
export class ClientPauses {
  readonly #clock: SystemClock

  constructor(clock: SystemClock = new SystemClock()) {
    this.#clock = clock
  }

  readonly later = (resume: () => void): void => this.#clock.after(PAUSE_MS, resume)

  idle(): Promise<void> {
    return this.#clock.idle()
  }
}

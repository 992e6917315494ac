/** Time as a run sees it: every wait goes through one clock, so that a test can hold it still. */
export interface Clock {
  /** Milliseconds from some moment on. */
  now(): number
  /** Calls back after that many milliseconds. */
  after(ms: number, action: () => void): void
}

/** The clock on the wall. The end of a run can wait for what is still to come, or call it off. */
export class SystemClock implements Clock {
  readonly #open = new Map<NodeJS.Timeout, PendingTimer>()
  #isStopped = false

  readonly now = (): number => performance.now()

  readonly after = (ms: number, action: () => void): void => {
    if (this.#isStopped) return
    const timer = setTimeout(() => {
      action()
      this.#settle(timer)
    }, ms)
    this.#open.set(timer, new PendingTimer())
  }

  /** Resolves when nothing is waited for any more. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all([...this.#open.values()].map(({ over }) => over))
  }

  /** What is still to come will not come. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#open.keys()) {
      clearTimeout(timer)
      this.#settle(timer)
    }
  }

  #settle(timer: NodeJS.Timeout): void {
    this.#open.get(timer)?.end()
    this.#open.delete(timer)
  }
}

class PendingTimer {
  end: () => void = () => {}
  readonly over: Promise<void> = new Promise((resolve) => (this.end = resolve))
}

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

import { monotonicNow } from '../link/process/monotonic-clock.ts'
import type { TapeLog } from './tape-log.ts'

/**
 * Work for the tape that waits until the bytes of this round of the event loop are on their way: the link comes first. It is
 * done in the order in which it was asked for, with the time at which it was asked for, and one write to the disk.
 */
export class DeferredWrites {
  readonly #log: TapeLog
  #queue: { readonly when: number; readonly work: () => void }[] = []
  #time = 0

  constructor(log: TapeLog) {
    this.#log = log
  }

  /** When the work that is being done was asked for, by the clock of the tape that is open now: a limit may have begun another. */
  get time(): number {
    return this.#log.timeOf(this.#time)
  }

  defer(work: () => void): void {
    if (this.#queue.push({ when: monotonicNow(), work }) === 1) setImmediate(() => this.flush())
  }

  flush(): void {
    const queue = this.#queue
    this.#queue = []
    for (const { when, work } of queue) {
      this.#time = when
      this.#log.guard(work)
    }
    this.#log.flush()
  }
}

/** How long to wait before a stream that ended is opened again: as long as the server says, and longer while nothing comes of it. */
export class ReconnectDelay {
  #base: number
  #failedAttempts = 0

  /** Milliseconds, until the server says otherwise. */
  constructor(base: number = DEFAULT_DELAY_MS) {
    this.#base = base
  }

  /** What the server said in a `retry` field, within bounds: no server makes us knock without end, or wait for hours. */
  setBase(milliseconds: number): void {
    this.#base = Math.min(Math.max(milliseconds, MIN_DELAY_MS), MAX_DELAY_MS)
  }

  /** Something came by the stream. */
  reset(): void {
    this.#failedAttempts = 0
  }

  next(): number {
    return Math.min(this.#base * 2 ** Math.min(this.#failedAttempts++, MAX_DOUBLINGS), MAX_DELAY_MS)
  }
}

const DEFAULT_DELAY_MS = 1000
const MIN_DELAY_MS = 10
const MAX_DELAY_MS = 30_000
const MAX_DOUBLINGS = 12

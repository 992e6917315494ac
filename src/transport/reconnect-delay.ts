/** How long to wait before a stream that ended is opened again: as long as the server says, and longer while nothing comes of it. */
export class ReconnectDelay {
  #base: number
  #inVain = 0

  /** Milliseconds, until the server says otherwise. */
  constructor(base: number = DEFAULT) {
    this.#base = base
  }

  /** What the server said in a `retry` field, within bounds: no server makes us knock without end, or wait for hours. */
  told(milliseconds: number): void {
    this.#base = Math.min(Math.max(milliseconds, SHORTEST), LONGEST)
  }

  /** Something came by the stream. */
  heard(): void {
    this.#inVain = 0
  }

  next(): number {
    return Math.min(this.#base * 2 ** Math.min(this.#inVain++, MOST_DOUBLINGS), LONGEST)
  }
}

const DEFAULT = 1000
const SHORTEST = 10
const LONGEST = 30_000
const MOST_DOUBLINGS = 12

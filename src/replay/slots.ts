/** So many may be at work at once. */
export class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  /** Takes one that is free; false when none is. */
  tryTake(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  async take(): Promise<void> {
    if (!this.tryTake()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

/** Which messages of a run are on their way, by index, and who waits for them to be over. */
export class InFlightMessages {
  readonly #isOpen: Uint8Array
  #count = 0
  #wake: (() => void) | undefined

  constructor(size: number) {
    this.#isOpen = new Uint8Array(size)
  }

  add(index: number): void {
    this.#isOpen[index] = 1
    this.#count++
  }

  /** Whoever waits looks again, once for all that are over by then. */
  delete(index: number): void {
    this.#isOpen[index] = 0
    this.#count--
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  areDone(indexes: readonly number[]): boolean {
    return !indexes.some((index) => this.#isOpen[index] === 1)
  }

  async waitFor(indexes: readonly number[]): Promise<void> {
    while (!this.areDone(indexes)) await this.#next()
  }

  async waitForAll(): Promise<void> {
    while (this.#count > 0) await this.#next()
  }

  #next(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

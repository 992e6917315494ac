/** What the server has told of its own accord, by method, and who waits for more of it. */
export class Heard {
  readonly #counts = new Map<string, number>()
  #waiting: (() => void)[] = []
  #isOver = false

  note(method: string): void {
    this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1)
    this.#look()
  }

  /** Nothing more comes: nobody waits for it. */
  end(): void {
    this.#isOver = true
    this.#look()
  }

  count(method: string): number {
    return this.#counts.get(method) ?? 0
  }

  /** Resolves when as much was heard as was wanted, or the time is over: then with the methods that stayed out. */
  async until(wanted: ReadonlyMap<string, number>, milliseconds: number): Promise<readonly string[]> {
    const deadline = performance.now() + milliseconds
    for (let missing = this.#missing(wanted); missing.length > 0; missing = this.#missing(wanted)) {
      const left = deadline - performance.now()
      if (left <= 0 || this.#isOver) return this.#forgive(missing)
      await this.#next(left)
    }
    return []
  }

  #look(): void {
    for (const look of this.#waiting.splice(0)) look()
  }

  #missing(wanted: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
    return [...wanted].filter(([method, count]) => this.count(method) < count)
  }

  // Waited for once in vain, it is not waited for again.
  #forgive(missing: readonly (readonly [string, number])[]): readonly string[] {
    for (const [method, count] of missing) this.#counts.set(method, count)
    return missing.map(([method]) => method)
  }

  #next(limit: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limit)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

/** The words of a message by their hashes, filled anew for each. */
export class WordHashList {
  /** Whether a date stands among the words. */
  hasDate = false
  #list = new Int32Array(256)
  #size = 0

  get size(): number {
    return this.#size
  }

  clear(): void {
    this.#size = 0
    this.hasDate = false
  }

  add(hash: number): void {
    if (this.#size === this.#list.length) this.#widen()
    this.#list[this.#size++] = hash
  }

  at(index: number): number {
    return this.#list[index] ?? 0
  }

  #widen(): void {
    const list = new Int32Array(this.#list.length * 2)
    list.set(this.#list)
    this.#list = list
  }
}

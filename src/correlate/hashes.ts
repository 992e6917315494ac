/** A list of hashes that is filled anew for each message. Numbers of this size in an array would each be an object. */
export class Hashes {
  #list = new Uint32Array(256)
  #size = 0

  get size(): number {
    return this.#size
  }

  clear(): void {
    this.#size = 0
  }

  add(hash: number): void {
    if (this.#size === this.#list.length) this.#widen()
    this.#list[this.#size++] = hash
  }

  at(index: number): number {
    return this.#list[index] ?? 0
  }

  #widen(): void {
    const list = new Uint32Array(this.#list.length * 2)
    list.set(this.#list)
    this.#list = list
  }
}

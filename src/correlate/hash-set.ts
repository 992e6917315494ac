import { wordHash } from './word-hashes.ts'

/**
 * Texts by their hashes and lengths: eight bytes for each, however long it is. A text that is not in the set is taken for one
 * of a hundred thousand of its length once in 40,000 times, so that whoever relies on it compares the texts.
 */
export class TextHashSet {
  #slots: Float64Array = new Float64Array(1024)
  #size = 0
  readonly #lengths = new Set<number>()

  get isEmpty(): boolean {
    return this.#size === 0
  }

  add(text: string): void {
    this.#lengths.add(text.length)
    if (this.#size * 2 >= this.#slots.length) this.#widen()
    if (this.#put(textHashKey(text))) this.#size++
  }

  // Most texts have a length that none in the set has.
  has(text: string): boolean {
    if (!this.#lengths.has(text.length)) return false
    const key = textHashKey(text)
    return this.#slots[this.#slotOf(key)] === key
  }

  #put(key: number): boolean {
    const slot = this.#slotOf(key)
    if (this.#slots[slot] === key) return false
    this.#slots[slot] = key
    return true
  }

  /** Where the key is, or belongs. */
  #slotOf(key: number): number {
    const mask = this.#slots.length - 1
    let slot = (key / LENGTHS) & mask // the lengths of ids are all alike, and stand in the low bits
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  #widen(): void {
    const known = this.#slots.filter((key) => key !== 0)
    this.#slots = new Float64Array(this.#slots.length * 2)
    for (const key of known) this.#put(key)
  }
}

const LENGTHS = 2 ** 20

/** 52 bits, never 0. */
function textHashKey(text: string): number {
  return (wordHash(text) >>> 0) * LENGTHS + (text.length % (LENGTHS - 1)) + 1
}

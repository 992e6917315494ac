import { type WordHashList, wordHash } from './message-words.ts'

const MAX_WORDS = 2 ** 22

/**
 * Words by their hashes, in at most 64 megabytes. `mayHave` is true for every word that was added and for very few others.
 * A full filter returns true for all words: its user then examines more messages than necessary, and misses none.
 */
export class WordFilter {
  readonly #hashes = new HashSet()

  get isEmpty(): boolean {
    return this.#hashes.size === 0
  }

  add(hash: number): void {
    if (this.#hashes.size < MAX_WORDS) this.#hashes.add(hash, 0)
  }

  addAll(words: WordHashList): void {
    for (let index = 0; index < words.size; index++) this.add(words.at(index))
  }

  mayHave(hash: number): boolean {
    return this.#hashes.size >= MAX_WORDS || this.#hashes.has(hash, 0)
  }

  mayHaveAny(words: WordHashList): boolean {
    for (let index = 0; index < words.size; index++) if (this.mayHave(words.at(index))) return true
    return false
  }
}

/**
 * Texts by their hashes and lengths, eight bytes per slot however long the text is. Among a hundred thousand texts of the same
 * length, one text in 40,000 is found although it was never added, so callers have to compare the texts themselves.
 */
export class TextHashSet {
  readonly #hashes = new HashSet()
  readonly #lengths = new Set<number>()

  get isEmpty(): boolean {
    return this.#hashes.size === 0
  }

  add(text: string): void {
    this.#lengths.add(text.length)
    this.#hashes.add(wordHash(text), text.length)
  }

  // Most texts have a length that no text of the set has, so most texts are not hashed.
  has(text: string): boolean {
    return this.#lengths.has(text.length) && this.#hashes.has(wordHash(text), text.length)
  }
}

/** A hash table of numbers with open addressing. It has eight bytes per slot, and at least half of the slots are empty. */
class HashSet {
  size = 0
  #slots = new Float64Array(1024)

  add(hash: number, length: number): void {
    if (this.size * 2 >= this.#slots.length) this.#widen()
    if (this.#put(keyOf(hash, length))) this.size++
  }

  has(hash: number, length: number): boolean {
    const key = keyOf(hash, length)
    return this.#slots[this.#slotOf(key)] === key
  }

  #put(key: number): boolean {
    const slot = this.#slotOf(key)
    if (this.#slots[slot] === key) return false
    this.#slots[slot] = key
    return true
  }

  /** Returns the slot that contains the key, or else the empty slot where it belongs. */
  #slotOf(key: number): number {
    const mask = this.#slots.length - 1
    let slot = (key / LENGTHS) & mask // Only the hash selects the slot, because ids often have the same length.
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  #widen(): void {
    const keys = this.#slots.filter((key) => key !== 0)
    this.#slots = new Float64Array(this.#slots.length * 2)
    for (const key of keys) this.#put(key)
  }
}

const LENGTHS = 2 ** 20

/** Combines hash and length into a number of 52 bits that is never 0. */
function keyOf(hash: number, length: number): number {
  return (hash >>> 0) * LENGTHS + (length % (LENGTHS - 1)) + 1
}

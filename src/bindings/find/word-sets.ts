import { wordHash } from './message-words.ts'

const FEWEST_BITS = 16
const MOST_BITS = 28
const BITS_PER_TURN = 128

/**
 * Words that were said, by their hashes, as two bits each of a field of at most 32 megabytes: every word that was added is known,
 * and one in hundreds that was not.
 */
export class WordBloomFilter {
  readonly #field: Int32Array
  readonly #mask: number

  /** For about so many turns. */
  constructor(turns: number) {
    const bits = Math.ceil(Math.log2(turns * BITS_PER_TURN + 1))
    const size = 2 ** Math.min(Math.max(bits, FEWEST_BITS), MOST_BITS)
    this.#field = new Int32Array(size / 32)
    this.#mask = size / 32 - 1
  }

  add(hash: number): void {
    const place = hash & this.#mask
    this.#field[place] = (this.#field[place] ?? 0) | bitsOf(hash)
  }

  mayHold(hash: number): boolean {
    const bits = bitsOf(hash)
    return ((this.#field[hash & this.#mask] ?? 0) & bits) === bits
  }
}

// Both stand in one number: two places far apart would be two waits for the memory.
function bitsOf(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (1 << (once >>> 27)) | (1 << ((once >>> 22) & 31))
}

const FEWEST_SLOTS = 2 ** 12
const MOST_SLOTS = 2 ** 22
const MOST_PROBES = 8

/**
 * When the client sent each word last. Words are known by their hashes, and where there are too many of them some share a place:
 * this takes at most 54 megabytes whatever the tape holds, and two words that are taken for one only have more messages looked
 * at closely.
 */
export class LastSentWords {
  #keys = new Int32Array(FEWEST_SLOTS)
  #last = new Float64Array(FEWEST_SLOTS)
  /** 1 where words ended up that found no place of their own. */
  #isShared = new Uint8Array(FEWEST_SLOTS)
  #isEmpty = true

  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** The client sends a word in this frame. */
  markSent(hash: number, frame: number): void {
    this.#isEmpty = false
    const slot = this.#slotFor(hash)
    if ((this.#last[slot] ?? 0) < frame) this.#last[slot] = frame
  }

  /** Whether the client sends a word after this frame. */
  isSentAfter(hash: number, frame: number): boolean {
    const slot = this.#findSlot(hash, hash)
    if (slot >= 0) return (this.#last[slot] ?? 0) > frame
    const home = this.#homeSlot(hash)
    return this.#isShared[home] === 1 && (this.#last[home] ?? 0) > frame
  }

  #slotFor(hash: number): number {
    for (;;) {
      const slot = this.#findSlot(hash, 0)
      if (slot >= 0) {
        this.#keys[slot] = hash
        return slot
      }
      if (this.#keys.length >= MOST_SLOTS) break
      this.#widen()
    }
    const home = this.#homeSlot(hash)
    this.#isShared[home] = 1
    return home
  }

  /** Where the word is, or the first place with the other key; -1 when neither is near. */
  #findSlot(hash: number, other: number): number {
    const home = this.#homeSlot(hash)
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const slot = (home + probe) & (this.#keys.length - 1)
      const key = this.#keys[slot]
      if (key === hash || key === other) return slot
      if (key === 0) return -1 // places are filled one after the other
    }
    return -1
  }

  #homeSlot(hash: number): number {
    return hash & (this.#keys.length - 1)
  }

  #widen(): void {
    const [keys, last] = [this.#keys, this.#last]
    this.#keys = new Int32Array(keys.length * 2)
    this.#last = new Float64Array(keys.length * 2)
    this.#isShared = new Uint8Array(keys.length * 2)
    for (const [slot, key] of keys.entries()) if (key !== 0) this.markSent(key, last[slot] ?? 0)
  }
}

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

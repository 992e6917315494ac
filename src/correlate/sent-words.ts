const FEWEST_BITS = 12
const MOST_BITS = 20
const WORDS_PER_MESSAGE = 8
const MOST_PROBES = 8

/**
 * When the client sent each word last, and which words the server had said before. Words are known by their hashes, and where
 * there are too many of them some share a place: this takes at most fourteen megabytes whatever the tape holds, and two words
 * that are taken for one only have more messages looked at closely.
 */
export class SentWords {
  readonly #keys: Uint32Array
  readonly #last: Float64Array
  readonly #isShared: Uint8Array
  /** 1 where words ended up that found no place of their own. */
  readonly #isMixed: Uint8Array
  readonly #mask: number

  /** For about so many messages. */
  constructor(messages: number) {
    const bits = Math.ceil(Math.log2(messages * WORDS_PER_MESSAGE + 1))
    const size = 2 ** Math.min(Math.max(bits, FEWEST_BITS), MOST_BITS)
    this.#keys = new Uint32Array(size)
    this.#last = new Float64Array(size)
    this.#isShared = new Uint8Array(size)
    this.#isMixed = new Uint8Array(size)
    this.#mask = size - 1
  }

  /** The client sends a word in this frame. */
  sent(hash: number, frame: number): void {
    const slot = this.#placeFor(hash)
    if ((this.#last[slot] ?? 0) < frame) this.#last[slot] = frame
  }

  /** Whether the client sends a word after the server said it in this frame. */
  isSharedAt(hash: number, frame: number): boolean {
    const slot = this.#placeOf(hash)
    if (slot < 0 || (this.#last[slot] ?? 0) <= frame) return false
    this.#isShared[slot] = 1
    return true
  }

  /** Whether that was so anywhere. */
  isShared(hash: number): boolean {
    const slot = this.#placeOf(hash)
    return slot >= 0 && this.#isShared[slot] === 1
  }

  #placeFor(hash: number): number {
    const home = hash & this.#mask
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const slot = (home + probe) & this.#mask
      if (this.#keys[slot] === 0) this.#keys[slot] = hash
      if (this.#keys[slot] === hash) return slot
    }
    this.#isMixed[home] = 1
    return home
  }

  /** -1 when the client never sent it. */
  #placeOf(hash: number): number {
    const home = hash & this.#mask
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const slot = (home + probe) & this.#mask
      if (this.#keys[slot] === hash) return slot
      if (this.#keys[slot] === 0) return -1 // places are filled one after the other
    }
    return this.#isMixed[home] === 1 ? home : -1
  }
}

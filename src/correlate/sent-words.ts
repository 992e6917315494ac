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

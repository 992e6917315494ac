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

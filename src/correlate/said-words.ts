const FEWEST_BITS = 16
const MOST_BITS = 28
const BITS_PER_TURN = 128

/**
 * Words that were said, by their hashes, as two bits each of a field of at most 32 megabytes: every word that was added is known,
 * and one in hundreds that was not.
 */
export class SaidWords {
  readonly #field: Uint32Array
  readonly #mask: number

  /** For about so many turns. */
  constructor(turns: number) {
    const bits = Math.ceil(Math.log2(turns * BITS_PER_TURN + 1))
    const size = 2 ** Math.min(Math.max(bits, FEWEST_BITS), MOST_BITS)
    this.#field = new Uint32Array(size / 32)
    this.#mask = size - 1
  }

  add(hash: number): void {
    this.#set(hash & this.#mask)
    this.#set(secondOf(hash) & this.#mask)
  }

  mayHold(hash: number): boolean {
    return this.#isSet(hash & this.#mask) && this.#isSet(secondOf(hash) & this.#mask)
  }

  #set(bit: number): void {
    this.#field[bit >>> 5] = (this.#field[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }

  #isSet(bit: number): boolean {
    return ((this.#field[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
  }
}

function secondOf(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return once ^ (once >>> 15)
}

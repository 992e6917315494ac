/** Text that comes in pieces, handed on in whole lines: a secret may be cut anywhere, and half of one cannot be told. */
export class LineBuffer {
  #held = ''

  /** What can be looked at now. */
  add(piece: string): string {
    this.#held += piece
    const end = this.#held.length > MAX_HELD_LENGTH ? this.#held.length - OVERLAP_LENGTH : this.#wholeLines()
    return this.#take(end)
  }

  /** No more will come. */
  end(): string {
    return this.#take(this.#held.length)
  }

  #wholeLines(): number {
    const end = this.#held.lastIndexOf('\n') + 1
    const key = this.#held.lastIndexOf('-----BEGIN ', end)
    return key >= 0 && key > this.#held.lastIndexOf('-----END ', end) ? key : end
  }

  #take(end: number): string {
    const taken = this.#held.slice(0, end)
    this.#held = this.#held.slice(end)
    return taken
  }
}

const MAX_HELD_LENGTH = 64 * 1024
const OVERLAP_LENGTH = 4 * 1024

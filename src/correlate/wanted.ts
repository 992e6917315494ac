import { distinctnessOf } from './distinct.ts'
import { pieceUses, type Use } from './uses.ts'

/** What the client sent somewhere, whole or as a part: only that is worth a look in what the server said. */
export class Wanted {
  readonly #values = new Set<string>()
  readonly #lengths = new Set<number>()

  constructor(uses: Iterable<Use>) {
    for (const whole of uses) {
      if (whole.pair !== undefined || distinctnessOf(whole.value) !== 'none') this.#add(whole.value)
      pieceUses(whole, (piece) => this.#addPiece(piece, /\s/.test(whole.value)))
    }
  }

  has(value: string): boolean {
    return this.#lengths.has(value.length) && this.#values.has(value)
  }

  #add(value: string): void {
    this.#values.add(value)
    this.#lengths.add(value.length)
  }

  // Among words a plain word means nothing; in a composite it may be one of the parts.
  #addPiece(piece: string, inProse: boolean): false {
    const distinct = distinctnessOf(piece)
    if (distinct === 'strong' || distinct === 'fair' || (distinct === 'weak' && !inProse)) this.#add(piece)
    return false
  }
}

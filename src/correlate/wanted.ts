import { distinctnessOf } from '../bindings/distinctness.ts'
import { TextHashSet } from './hash-set.ts'
import { consumerPieces, type ConsumerCandidate } from '../bindings/find/consumer-candidates.ts'

/** What the client sent somewhere, whole or as a part: only that is worth a look in what the server said. */
export class SentValues {
  readonly #values = new TextHashSet()

  get isEmpty(): boolean {
    return this.#values.isEmpty
  }

  add({ value, pair }: ConsumerCandidate): void {
    if (pair !== undefined || distinctnessOf(value) !== 'none') this.#values.add(value)
  }

  addPieces(whole: ConsumerCandidate): void {
    const inProse = /\s/.test(whole.value)
    consumerPieces(whole, (piece) => this.#addPiece(piece, inProse))
  }

  /** True for little else, which is never looked up by its text. */
  has(value: string): boolean {
    return this.#values.has(value)
  }

  // Among words a plain word means nothing; in a composite it may be one of the parts.
  #addPiece(piece: string, inProse: boolean): false {
    const distinct = distinctnessOf(piece)
    if (distinct === 'strong' || distinct === 'fair' || (distinct === 'weak' && !inProse))
      this.#values.add(piece)
    return false
  }
}

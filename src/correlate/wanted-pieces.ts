import { distinctnessOf, isNumericText } from '../bindings/distinctness.ts'
import { findPiecesByWord, findPiecesInWord, type TextPiece } from './pieces.ts'
import type { SentValues } from './wanted.ts'

// Texts are made of few words: each is taken apart once. A tape with very many has them forgotten now and then.
const MOST_KNOWN = 20_000
const LONGEST_KNOWN = 100

/** Finds in texts what is wanted as a token: a plain word among words is never taken for a handle. */
export class SentValueScanner {
  readonly #values: SentValues
  readonly #known = new Map<string, readonly TextPiece[]>()

  constructor(wanted: SentValues) {
    this.#values = wanted
  }

  has(value: string): boolean {
    return this.#values.has(value)
  }

  findIn(text: string): readonly TextPiece[] {
    return findPiecesByWord(text, (word) => this.#inWord(word))
  }

  #inWord(word: string): readonly TextPiece[] {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const pieces = findPiecesInWord(word, (piece) => this.#values.has(piece) && isDistinctPiece(piece))
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    if (word.length <= LONGEST_KNOWN) this.#known.set(word, pieces)
    return pieces
  }
}

function isDistinctPiece(piece: string): boolean {
  return isNumericText(piece) || distinctnessOf(piece) !== 'weak'
}

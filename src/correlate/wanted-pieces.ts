import { distinctnessOf, isNumeric } from './distinct.ts'
import { piecesByWord, piecesIn, type Piece } from './pieces.ts'
import type { Wanted } from './wanted.ts'

// Texts are made of few words: each is taken apart once. A tape with very many has them forgotten now and then.
const MOST_KNOWN = 20_000
const LONGEST_KNOWN = 100

/** Finds in texts what is wanted as a token: a plain word among words is never taken for a handle. */
export class WantedPieces {
  readonly #wanted: Wanted
  readonly #known = new Map<string, readonly Piece[]>()

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  has(value: string): boolean {
    return this.#wanted.has(value)
  }

  in(text: string): readonly Piece[] {
    return piecesByWord(text, (word) => this.#inWord(word))
  }

  #inWord(word: string): readonly Piece[] {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const pieces = piecesIn(word, (piece) => this.#wanted.has(piece) && isTelling(piece))
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    if (word.length <= LONGEST_KNOWN) this.#known.set(word, pieces)
    return pieces
  }
}

function isTelling(piece: string): boolean {
  return isNumeric(piece) || distinctnessOf(piece) !== 'weak'
}

import { ALPHABETS, isWrittenIn, type Alphabet } from './alphabet.ts'

/**
 * Writes words that only the holder of the key could have written. The last characters of a marked word follow from those
 * before them and the key, so that a stand-in can be told from a real value when it is met again.
 */
export class Ink {
  readonly #hmac: (text: string) => Uint8Array

  constructor(hmac: (text: string) => Uint8Array) {
    this.#hmac = hmac
  }

  /** A word that follows from the seed; too short to carry a mark. */
  plain(seed: string, alphabet: Alphabet, length: number): string {
    return this.#draw(`word\0${seed}`, alphabet, length)
  }

  /** A word of at least this length that carries a mark. */
  marked(seed: string, alphabet: Alphabet, length: number): string {
    const mark = markLength(alphabet)
    const free = this.#draw(`word\0${seed}`, alphabet, Math.max(length, shortestMarked(alphabet)) - mark)
    return free + this.#mark(free, alphabet)
  }

  /** The mark that belongs behind a word. */
  sign(free: string, alphabet: Alphabet): string {
    return free + this.#mark(free, alphabet)
  }

  isMarked(word: string): boolean {
    return ALPHABETS.some(
      (alphabet) =>
        word.length >= shortestMarked(alphabet) &&
        isWrittenIn(word, alphabet) &&
        word.endsWith(this.#mark(word.slice(0, -markLength(alphabet)), alphabet)),
    )
  }

  #mark(free: string, alphabet: Alphabet): string {
    return this.#draw(`mark\0${alphabet}\0${free}`, alphabet, markLength(alphabet))
  }

  // Two bytes a character: their bias is far too small to tell anything.
  #draw(seed: string, alphabet: Alphabet, length: number): string {
    let text = ''
    for (let block = 0; text.length < length; block++) {
      const bytes = this.#hmac(`${block}\0${seed}`)
      for (let at = 0; at + 1 < bytes.length && text.length < length; at += 2)
        text += alphabet[((bytes[at]! << 8) | bytes[at + 1]!) % alphabet.length]
    }
    return text
  }
}

const MARK_BITS = 22
const FREE_BITS = 16

/** Below this length there is no room for a mark. */
export function shortestMarked(alphabet: Alphabet): number {
  return markLength(alphabet) + Math.ceil(FREE_BITS / Math.log2(alphabet.length))
}

function markLength(alphabet: Alphabet): number {
  return Math.ceil(MARK_BITS / Math.log2(alphabet.length))
}

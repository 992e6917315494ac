import { TOKEN_ALPHABETS, usesOnly, type TokenAlphabet } from './alphabet.ts'

/**
 * Writes words that only the holder of the key could have written. The last characters of a marked word follow from those
 * before them and the key, so that a stand-in can be told from a real value when it is met again.
 */
export class TokenGenerator {
  readonly #hmac: (text: string) => Uint8Array

  constructor(hmac: (text: string) => Uint8Array) {
    this.#hmac = hmac
  }

  /** A word that follows from the seed; too short to carry a mark. */
  unsigned(seed: string, alphabet: TokenAlphabet, length: number): string {
    return this.#draw(`word\0${seed}`, alphabet, length)
  }

  /** A word of at least this length that carries a mark. */
  signed(seed: string, alphabet: TokenAlphabet, length: number): string {
    const mark = signatureLength(alphabet)
    const free = this.#draw(`word\0${seed}`, alphabet, Math.max(length, shortestSigned(alphabet)) - mark)
    return free + this.#signature(free, alphabet)
  }

  /** The mark that belongs behind a word. */
  sign(free: string, alphabet: TokenAlphabet): string {
    return free + this.#signature(free, alphabet)
  }

  isSigned(word: string): boolean {
    return TOKEN_ALPHABETS.some(
      (alphabet) =>
        word.length >= shortestSigned(alphabet) &&
        usesOnly(word, alphabet) &&
        word.endsWith(this.#signature(word.slice(0, -signatureLength(alphabet)), alphabet)),
    )
  }

  #signature(free: string, alphabet: TokenAlphabet): string {
    return this.#draw(`mark\0${alphabet}\0${free}`, alphabet, signatureLength(alphabet))
  }

  // Two bytes a character: their bias is far too small to tell anything.
  #draw(seed: string, alphabet: TokenAlphabet, length: number): string {
    let text = ''
    for (let block = 0; text.length < length; block++) {
      const bytes = this.#hmac(`${block}\0${seed}`)
      for (let at = 0; at + 1 < bytes.length && text.length < length; at += 2)
        text += alphabet[((bytes[at]! << 8) | bytes[at + 1]!) % alphabet.length]
    }
    return text
  }
}

const SIGNATURE_BITS = 22
const FREE_BITS = 16

/** Below this length there is no room for a mark. */
export function shortestSigned(alphabet: TokenAlphabet): number {
  return signatureLength(alphabet) + Math.ceil(FREE_BITS / Math.log2(alphabet.length))
}

function signatureLength(alphabet: TokenAlphabet): number {
  return Math.ceil(SIGNATURE_BITS / Math.log2(alphabet.length))
}

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

/** The characters that a stand-in is written in. */
type TokenAlphabet = string

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
export const DIGITS: TokenAlphabet = '0123456789'
export const HEX: TokenAlphabet = `${DIGITS}abcdef`
export const LOWER_DIGITS: TokenAlphabet = LOWER + DIGITS
const LETTERS_DIGITS = LOWER + UPPER + DIGITS
export const BASE64: TokenAlphabet = `${LETTERS_DIGITS}+/`
export const BASE64URL: TokenAlphabet = `${LETTERS_DIGITS}-_`

/** Every alphabet that there is, the narrow ones first. */
const TOKEN_ALPHABETS: readonly TokenAlphabet[] = [
  DIGITS,
  HEX,
  HEX.toUpperCase(),
  LOWER,
  UPPER,
  LOWER_DIGITS,
  UPPER + DIGITS,
  LOWER + UPPER,
  LETTERS_DIGITS,
  BASE64URL,
  BASE64,
]

/** The narrowest alphabet that a value could have been written in; what no alphabet holds, such as a space, is not looked at. */
export function narrowestAlphabet(value: string): TokenAlphabet {
  const plain = value.replaceAll(/[^A-Za-z0-9_+/-]/g, '')
  if (plain === '') return LOWER
  return TOKEN_ALPHABETS.find((alphabet) => usesOnly(plain, alphabet)) ?? BASE64URL
}

export function usesOnly(text: string, alphabet: TokenAlphabet): boolean {
  for (const char of text) if (!alphabet.includes(char)) return false
  return true
}

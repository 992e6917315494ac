/** The characters that a stand-in is written in. */
export type TokenAlphabet = string

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
export const DIGITS: TokenAlphabet = '0123456789'
export const HEX: TokenAlphabet = `${DIGITS}abcdef`
export const LOWER_DIGITS: TokenAlphabet = LOWER + DIGITS
const LETTERS_DIGITS = LOWER + UPPER + DIGITS
export const BASE64: TokenAlphabet = `${LETTERS_DIGITS}+/`
export const BASE64URL: TokenAlphabet = `${LETTERS_DIGITS}-_`

/** Every alphabet that there is, the narrow ones first. */
export const TOKEN_ALPHABETS: readonly TokenAlphabet[] = [
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

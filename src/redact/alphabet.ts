/** The characters that a stand-in is written in. */
export type Alphabet = string

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
export const DIGITS: Alphabet = '0123456789'
export const HEX: Alphabet = `${DIGITS}abcdef`
export const LOWER_DIGITS: Alphabet = LOWER + DIGITS
const LETTERS_DIGITS = LOWER + UPPER + DIGITS
export const BASE64: Alphabet = `${LETTERS_DIGITS}+/`
export const BASE64URL: Alphabet = `${LETTERS_DIGITS}-_`

/** Every alphabet that there is, the narrow ones first. */
export const ALPHABETS: readonly Alphabet[] = [
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
export function alphabetOf(value: string): Alphabet {
  const plain = value.replaceAll(/[^A-Za-z0-9_+/-]/g, '')
  if (plain === '') return LOWER
  return ALPHABETS.find((alphabet) => isWrittenIn(plain, alphabet)) ?? BASE64URL
}

export function isWrittenIn(text: string, alphabet: Alphabet): boolean {
  for (const char of text) if (!alphabet.includes(char)) return false
  return true
}

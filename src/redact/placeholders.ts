import { MAX_KEPT_CHARACTERS, ownCopy } from './known-values.ts'
import { ValueFingerprints, WINDOW_LENGTH } from './prefilter/fingerprints.ts'
import { tokenPrefixes } from './rules/index.ts'
import { looksRandom } from './value-checks.ts'
import { withoutPadding } from './views.ts'

/** Replaces a value with a placeholder of the same shape. It is always the same one, and cannot be traced back without the key. */
export class Placeholders {
  readonly #tokens: TokenGenerator
  readonly #maxKept: number
  readonly #byValue = new Map<string, string>()
  /** Counts the values, if not all of them are kept. */
  readonly #counted: ValueFingerprints | undefined
  #count = 0
  #characters = 0

  /** `maxKept` limits how many values are kept. The placeholders of others are made again when they are needed. */
  constructor({ hmac }: RedactionKey, { maxKept = Infinity }: { readonly maxKept?: number } = {}) {
    this.#tokens = new TokenGenerator(hmac)
    this.#maxKept = maxKept
    if (maxKept !== Infinity) this.#counted = new ValueFingerprints(0)
  }

  /** Number of replaced values. */
  get count(): number {
    return this.#count
  }

  /** The replaced values that are kept. */
  get values(): readonly string[] {
    return [...this.#byValue.keys()]
  }

  forValue(value: string): string {
    const known = this.#byValue.get(value)
    if (known !== undefined) return known
    const made = ownCopy(shapeOf(value).placeholderFor(value, this.#tokens))
    this.#countValue(value)
    this.#keep(ownCopy(value), made)
    return made
  }

  #countValue(value: string): void {
    const counted = value.padEnd(WINDOW_LENGTH, '\0')
    if (this.#counted?.has(counted) === true) return
    this.#counted?.add(counted)
    this.#count++
  }

  #keep(value: string, placeholder: string): void {
    this.#byValue.set(value, placeholder)
    this.#characters += value.length + placeholder.length
    if (this.#maxKept === Infinity) return
    for (const [oldest, old] of this.#byValue) {
      if (this.#byValue.size <= this.#maxKept && this.#characters <= MAX_KEPT_CHARACTERS) return
      this.#byValue.delete(oldest)
      this.#characters -= oldest.length + old.length
    }
  }

  /** Returns true for a placeholder of this key. A short number has no room for a signature, so the caller decides about those. */
  isPlaceholder(value: string, areShortOnes: boolean): boolean {
    if (isTooShortToSign(value)) return areShortOnes
    return shapeOf(value).isPlaceholder(value, this.#tokens) || beginsWithinPrefix(value, this.#tokens)
  }
}

/**
 * Returns true for the end of a known prefix and a placeholder. A value can begin within the prefix that its placeholder kept: after
 * `access_token$`, the value is `production$` and the placeholder.
 */
function beginsWithinPrefix(value: string, tokens: TokenGenerator): boolean {
  for (const { index } of value.slice(0, LONGEST_LEAD).matchAll(/[^A-Za-z0-9]/g)) {
    const lead = value.slice(0, index + 1)
    const isEndOfPrefix = tokenPrefixes().some((prefix) => prefix.endsWith(lead))
    if (isEndOfPrefix && textShape.isPlaceholder(value.slice(index + 1), tokens)) return true
  }
  return false
}

const LONGEST_LEAD = 40 // No prefix is longer.

/** The key of the placeholders. It is never on a tape, because it reveals which placeholder belongs to a value. */
export interface RedactionKey {
  /** Identifies the key on a tape without revealing it, such as `k-3f9a04d1`. */
  readonly name: string
  /** HMAC-SHA-256 with this key. It is passed in because browsers and Node provide it in different ways. */
  readonly hmac: (text: string) => Uint8Array
}

/** A form of values, and how a placeholder of the same form is made. The first shape that fits is used. */
interface ValueShape {
  readonly fits: (value: string) => boolean
  readonly placeholderFor: (value: string, tokens: TokenGenerator) => string
  /** Returns false for values that are too short for a signature. */
  readonly isPlaceholder: (value: string, tokens: TokenGenerator) => boolean
}

function shapeOf(value: string): ValueShape {
  return VALUE_SHAPES.find(({ fits }) => fits(value)) ?? textShape
}

/**
 * Guesses without the key whether a text is the placeholder of a value. `like` is a placeholder of the value with another key. A
 * text that shares many characters with the value is not a placeholder, because those are random.
 */
export function couldBePlaceholderFor(placeholder: string, value: string, like: string): boolean {
  if (
    placeholder.length !== like.length ||
    shapeOf(placeholder) !== shapeOf(like) ||
    !looksRandom(placeholder)
  )
    return false
  const prefix = prefixOf(placeholder)
  const drawn = placeholder.slice(prefix.length).replaceAll(/[^\w+/-]/g, '')
  const alphabet = narrowestAlphabet(value.slice(prefix.length))
  return prefix === prefixOf(like) && usesOnly(drawn, alphabet) && sharesFewCharacters(placeholder, value)
}

/** Returns true if few characters are the same at the same position. */
function sharesFewCharacters(one: string, other: string): boolean {
  return one.split('').filter((char, at) => char === other[at]).length * 3 < one.length
}

/** Returns true if the placeholder of a value has no room for a signature. */
export function isTooShortToSign(value: string): boolean {
  return numberShape.fits(value) && digitsOf(value).length < shortestSigned(DIGITS)
}

const PEM = /^(-----? ?BEGIN [^-]*-----?)([\s\S]*?)(-----? ?END [^-]*-----?(?:\\+[nr]|\s)*)?$/
// A line break may be escaped once or twice.
const PEM_BREAK = /\\+[nr]|\s/g

const pemShape: ValueShape = {
  fits: (value) => PEM.test(value),
  placeholderFor: (value, tokens) => {
    const [, begin = '', body = '', end = ''] = PEM.exec(value) ?? []
    const word = tokens.signed(body.replaceAll(PEM_BREAK, ''), BASE64, lettersIn(body).length)
    let at = 0
    const written = body.replaceAll(/(\\+[nr])|[A-Za-z0-9+/]/g, (char, kept) => (kept ? char : word[at++]!))
    return begin + written + word.slice(at) + end
  },
  isPlaceholder: (value, tokens) => tokens.isSigned(lettersIn(PEM.exec(value)?.[2] ?? '')),
}

function lettersIn(body: string): string {
  return body.replaceAll(PEM_BREAK, '').replaceAll(/[^A-Za-z0-9+/]/g, '')
}

const JWT = /^eyJ[\w-]*\.[\w-]+\.([\w-]*)(\.[\w-]*){0,2}$/
const JWT_HEAD = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9' // {"alg":"HS256","typ":"JWT"}
const JWT_PAYLOAD = 'eyJzdWIiOiJzdGFuZC1pbiJ9' // {"sub":"stand-in"}

const jwtShape: ValueShape = {
  fits: (value) => JWT.test(value),
  placeholderFor: (value, tokens) => `${JWT_HEAD}.${JWT_PAYLOAD}.${tokens.signed(value, BASE64URL, 43)}`,
  isPlaceholder: (value, tokens) => tokens.isSigned(JWT.exec(value)?.[1] ?? ''),
}

const UUID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i

const uuidShape: ValueShape = {
  fits: (value) => value.includes('-') && UUID.test(value),
  placeholderFor: (value, tokens) => {
    const [version = '4', variant = '8'] = [value[14], value[19]]
    const drawn = tokens.unsigned(value.toLowerCase(), HEX, 24)
    const free = `${drawn.slice(0, 12)}${version}${drawn.slice(12, 15)}${variant}${drawn.slice(15)}`
    const hex = tokens.sign(free.toLowerCase(), HEX)
    const dashed = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    return value === value.toUpperCase() ? dashed.toUpperCase() : dashed
  },
  isPlaceholder: (value, tokens) => tokens.isSigned(value.replaceAll('-', '').toLowerCase()),
}

const EMAIL = /^[^\s@]+@(?<host>[^\s@]+)$/

const emailShape: ValueShape = {
  fits: (value) => EMAIL.exec(value)?.groups?.['host']?.slice(1, -1).includes('.') === true,
  placeholderFor: (value, tokens) => `${tokens.signed(value, LOWER_DIGITS, 10)}@mail.example`,
  isPlaceholder: (value, tokens) => tokens.isSigned(value.slice(0, value.indexOf('@'))),
}

/** A number, or numbers with signs between them. Its placeholder has the same number of digits, so that it stays in range. */
const numberShape: ValueShape = {
  fits: (value) => /^-?\d+(?:(?:[.,:/ -]\d+)*|(?:\.\d+)?[eE][+-]?\d+)$/.test(value),
  placeholderFor: (value, tokens) => {
    const digits = digitsOf(value)
    const isSigned = digits.length >= shortestSigned(DIGITS)
    const drawn = isSigned
      ? tokens.signed(value, DIGITS, digits.length)
      : tokens.unsigned(value, DIGITS, digits.length)
    const word = digits.startsWith('0') ? drawn : withoutLeadingZero(drawn, isSigned, tokens)
    let at = 0
    return value.replaceAll(/([eE].*$)|\d/g, (digit, kept) => (kept ? digit : word[at++]!))
  },
  isPlaceholder: (value, tokens) => tokens.isSigned(digitsOf(value)),
}

/** The digits of a number, without those of its exponent. */
function digitsOf(value: string): string {
  return value.replaceAll(/[eE].*$|\D/g, '')
}

/** A number in JSON must not begin with a zero. */
function withoutLeadingZero(word: string, isSigned: boolean, tokens: TokenGenerator): string {
  if (word[0] !== '0' || word.length === 1) return word
  const begun = `1${word.slice(1)}`
  return isSigned ? tokens.sign(begun.slice(0, -SIGNATURE_DIGITS), DIGITS) : begun
}

const SIGNATURE_DIGITS = 7

/** A token with a known prefix, which its placeholder keeps. */
const prefixedShape: ValueShape = {
  fits: (value) => prefixOf(value) !== '',
  placeholderFor: (value, tokens) => {
    const prefix = prefixOf(value)
    return prefix + textShape.placeholderFor(value.slice(prefix.length), tokens)
  },
  // Random characters can look like a prefix, or like the end of a longer one, so every prefix counts, and none.
  isPlaceholder: (value, tokens) =>
    [...prefixesOf(value), ''].some((prefix) => textShape.isPlaceholder(value.slice(prefix.length), tokens)),
}

function prefixOf(value: string): string {
  return prefixesOf(value)[0] ?? ''
}

/** The prefixes of a value, longest first. */
function prefixesOf(value: string): readonly string[] {
  return tokenPrefixes().filter((prefix) => value.startsWith(prefix) && value.length > prefix.length + 7)
}

/** Any other text. Its placeholder has the same kinds of characters and the same length, or the shortest possible length. */
const textShape: ValueShape = {
  fits: () => true,
  placeholderFor: (value, tokens) => {
    const body = withoutPadding(value)
    return tokens.signed(value, narrowestAlphabet(body), body.length) + value.slice(body.length)
  },
  isPlaceholder: (value, tokens) => tokens.isSigned(withoutPadding(value)),
}

const VALUE_SHAPES: readonly ValueShape[] = [
  pemShape,
  jwtShape,
  uuidShape,
  emailShape,
  numberShape,
  prefixedShape,
]

/**
 * Generates words that depend on the key. The last characters of a signed word are a signature of the characters before them, so
 * that a placeholder can be recognised later.
 */
class TokenGenerator {
  readonly #hmac: (text: string) => Uint8Array

  constructor(hmac: (text: string) => Uint8Array) {
    this.#hmac = hmac
  }

  /** A word without a signature. */
  unsigned(seed: string, alphabet: TokenAlphabet, length: number): string {
    return this.#draw(`word\0${seed}`, alphabet, length)
  }

  /** A word with a signature, of at least this length. */
  signed(seed: string, alphabet: TokenAlphabet, length: number): string {
    const mark = signatureLength(alphabet)
    const free = this.#draw(`word\0${seed}`, alphabet, Math.max(length, shortestSigned(alphabet)) - mark)
    return free + this.#signature(free, alphabet)
  }

  /** Appends the signature to a word. */
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

  // With two bytes per character the bias of the modulo is negligible.
  #draw(seed: string, alphabet: TokenAlphabet, length: number): string {
    const shortSeed = seed.length > MAX_SEED_LENGTH ? this.#digest(seed) : seed
    let text = ''
    for (let block = 0; text.length < length; block++) {
      const bytes = this.#hmac(`${block}\0${shortSeed}`)
      for (let at = 0; at + 1 < bytes.length && text.length < length; at += 2)
        text += alphabet[((bytes[at]! << 8) | bytes[at + 1]!) % alphabet.length]
    }
    return text
  }

  #digest(seed: string): string {
    return `digest\0${Array.from(this.#hmac(`digest\0${seed}`), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
  }
}

/** The seed is hashed once per sixteen characters, so a longer one, which no ordinary secret is, is replaced by its digest. */
const MAX_SEED_LENGTH = 4096
const SIGNATURE_BITS = 22
const FREE_BITS = 16

/** Length of the shortest word with a signature. */
function shortestSigned(alphabet: TokenAlphabet): number {
  return signatureLength(alphabet) + Math.ceil(FREE_BITS / Math.log2(alphabet.length))
}

function signatureLength(alphabet: TokenAlphabet): number {
  return Math.ceil(SIGNATURE_BITS / Math.log2(alphabet.length))
}

/** The characters of a placeholder. */
type TokenAlphabet = string

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS: TokenAlphabet = '0123456789'
const HEX: TokenAlphabet = `${DIGITS}abcdef`
const LOWER_DIGITS: TokenAlphabet = LOWER + DIGITS
const LETTERS_DIGITS = LOWER + UPPER + DIGITS
const BASE64: TokenAlphabet = `${LETTERS_DIGITS}+/`
const BASE64URL: TokenAlphabet = `${LETTERS_DIGITS}-_`

/** All alphabets, narrowest first. */
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

/** The narrowest alphabet that contains the characters of a value. Characters that are in no alphabet, such as a space, are ignored. */
function narrowestAlphabet(value: string): TokenAlphabet {
  const plain = value.replaceAll(/[^A-Za-z0-9_+/-]/g, '')
  if (plain === '') return LOWER
  return TOKEN_ALPHABETS.find((alphabet) => usesOnly(plain, alphabet)) ?? BASE64URL
}

function usesOnly(text: string, alphabet: TokenAlphabet): boolean {
  for (const char of text) if (!alphabet.includes(char)) return false
  return true
}

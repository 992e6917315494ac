import { tokenPrefixes } from './rules/index.ts'
import {
  TokenGenerator,
  narrowestAlphabet,
  usesOnly,
  BASE64,
  BASE64URL,
  DIGITS,
  HEX,
  LOWER_DIGITS,
  shortestSigned,
} from './token-generator.ts'
import { looksRandom } from './value-checks.ts'

/** Gives each value its stand-in: the same one every time, of the same shape, which nobody can trace back without the key. */
export class Placeholders {
  readonly #tokens: TokenGenerator
  readonly #byValue = new Map<string, string>()

  constructor({ hmac }: RedactionKey) {
    this.#tokens = new TokenGenerator(hmac)
  }

  /** How many values have been replaced. */
  get count(): number {
    return this.#byValue.size
  }

  get values(): readonly string[] {
    return [...this.#byValue.keys()]
  }

  forValue(value: string): string {
    const known = this.#byValue.get(value)
    if (known !== undefined) return known
    const made = shapeOf(value).placeholderFor(value, this.#tokens)
    this.#byValue.set(value, made)
    return made
  }

  /** Whether this is a stand-in of this key already. A short number can carry no mark: whether to take it for one is the caller's to say. */
  isPlaceholder(value: string, areShortOnes: boolean): boolean {
    if (isTooShortToSign(value)) return areShortOnes
    return shapeOf(value).isPlaceholder(value, this.#tokens)
  }
}

/** The project's key. It is kept outside of every tape: whoever has it can tell which stand-in belongs to a value. */
export interface RedactionKey {
  /** Names the key on a tape without telling anything of it, such as `k-3f9a04d1`. */
  readonly name: string
  /** HMAC-SHA-256 with this key. Given from outside, because browsers and Node have it in different places. */
  readonly hmac: (text: string) => Uint8Array
}

/** A form that values have, and the stand-in of the same form. The first shape that fits is a value's shape. */
interface ValueShape {
  readonly fits: (value: string) => boolean
  readonly placeholderFor: (value: string, ink: TokenGenerator) => string
  /** Whether a value of this shape is a stand-in; shapes that are too short to carry a mark cannot tell. */
  readonly isPlaceholder: (value: string, ink: TokenGenerator) => boolean
}

function shapeOf(value: string): ValueShape {
  return VALUE_SHAPES.find(({ fits }) => fits(value)) ?? textShape
}

/**
 * Whether this may be the stand-in of that value, as far as it can be told without the key: `like` is a stand-in of the value by
 * another key. One that has much of the value was not drawn by chance.
 */
export function couldBePlaceholderFor(standIn: string, value: string, like: string): boolean {
  if (standIn.length !== like.length || shapeOf(standIn) !== shapeOf(like) || !looksRandom(standIn))
    return false
  const prefix = prefixOf(standIn)
  const drawn = standIn.slice(prefix.length).replaceAll(/[^\w+/-]/g, '')
  const alphabet = narrowestAlphabet(value.slice(prefix.length))
  return prefix === prefixOf(like) && usesOnly(drawn, alphabet) && sharesFewCharacters(standIn, value)
}

/** Whether few characters of the one stand where the other has them, too. */
function sharesFewCharacters(one: string, other: string): boolean {
  return one.split('').filter((char, at) => char === other[at]).length * 3 < one.length
}

/** Whether a stand-in of this value has no room for a mark. */
export function isTooShortToSign(value: string): boolean {
  return numberShape.fits(value) && value.length < shortestSigned(DIGITS)
}

const PEM = /^(-----BEGIN [^-]*-----)([\s\S]*?)(-----END [^-]*-----)?$/
// A line break may itself be spelled out, once or twice escaped.
const PEM_BREAK = /\\+[nr]|\s/g

const pemShape: ValueShape = {
  fits: (value) => PEM.test(value),
  placeholderFor: (value, ink) => {
    const [, begin = '', body = '', end = ''] = PEM.exec(value) ?? []
    const word = ink.signed(body.replaceAll(PEM_BREAK, ''), BASE64, lettersIn(body).length)
    let at = 0
    const written = body.replaceAll(/(\\+[nr])|[A-Za-z0-9+/]/g, (char, kept) => (kept ? char : word[at++]!))
    return begin + written + word.slice(at) + end
  },
  isPlaceholder: (value, ink) => ink.isSigned(lettersIn(PEM.exec(value)?.[2] ?? '')),
}

function lettersIn(body: string): string {
  return body.replaceAll(PEM_BREAK, '').replaceAll(/[^A-Za-z0-9+/]/g, '')
}

const JWT = /^eyJ[\w-]*\.[\w-]+\.([\w-]*)(\.[\w-]*){0,2}$/
const JWT_HEAD = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9' // {"alg":"HS256","typ":"JWT"}
const JWT_PAYLOAD = 'eyJzdWIiOiJzdGFuZC1pbiJ9' // {"sub":"stand-in"}

const jwtShape: ValueShape = {
  fits: (value) => JWT.test(value),
  placeholderFor: (value, ink) => `${JWT_HEAD}.${JWT_PAYLOAD}.${ink.signed(value, BASE64URL, 43)}`,
  isPlaceholder: (value, ink) => ink.isSigned(JWT.exec(value)?.[1] ?? ''),
}

const UUID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i

const uuidShape: ValueShape = {
  fits: (value) => value.includes('-') && UUID.test(value),
  placeholderFor: (value, ink) => {
    const [version = '4', variant = '8'] = [value[14], value[19]]
    const drawn = ink.unsigned(value.toLowerCase(), HEX, 24)
    const free = `${drawn.slice(0, 12)}${version}${drawn.slice(12, 15)}${variant}${drawn.slice(15)}`
    const hex = ink.sign(free.toLowerCase(), HEX)
    const dashed = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    return value === value.toUpperCase() ? dashed.toUpperCase() : dashed
  },
  isPlaceholder: (value, ink) => ink.isSigned(value.replaceAll('-', '').toLowerCase()),
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

const emailShape: ValueShape = {
  fits: (value) => EMAIL.test(value),
  placeholderFor: (value, ink) => `${ink.signed(value, LOWER_DIGITS, 10)}@mail.example`,
  isPlaceholder: (value, ink) => ink.isSigned(value.slice(0, value.indexOf('@'))),
}

/** In digits only: the same number of them, so that it stays in its range. */
const numberShape: ValueShape = {
  fits: (value) => /^-?\d+([.,:/ -]\d+)*([eE][+-]?\d+)?$/.test(value),
  placeholderFor: (value, ink) => {
    const digits = value.replaceAll(/[eE].*$|\D/g, '')
    const free = ink.signed(value, DIGITS, digits.length)
    const drawn = digits.length < shortestSigned(DIGITS) ? ink.unsigned(value, DIGITS, digits.length) : free
    let at = 0
    const written = value.replaceAll(/([eE].*$)|\d/g, (digit, kept) => (kept ? digit : drawn[at++]!))
    return digits.startsWith('0') ? written : withoutLeadingZero(written, digits.length, ink)
  },
  isPlaceholder: (value, ink) => /^\d+$/.test(value) && ink.isSigned(value),
}

/** No number of JSON begins with a zero. */
function withoutLeadingZero(written: string, digits: number, ink: TokenGenerator): string {
  const first = written.search(/\d/)
  if (written[first] !== '0' || written.length === 1) return written
  const begun = `${written.slice(0, first)}1${written.slice(first + 1)}`
  return digits === begun.length && digits >= shortestSigned(DIGITS)
    ? ink.sign(begun.slice(0, digits - SIGNATURE_DIGITS), DIGITS)
    : begun
}

const SIGNATURE_DIGITS = 7

/** A token that says by its beginning whose it is. */
const prefixedShape: ValueShape = {
  fits: (value) => prefixOf(value) !== '',
  placeholderFor: (value, ink) => {
    const prefix = prefixOf(value)
    return prefix + textShape.placeholderFor(value.slice(prefix.length), ink)
  },
  isPlaceholder: (value, ink) => textShape.isPlaceholder(value.slice(prefixOf(value).length), ink),
}

function prefixOf(value: string): string {
  return tokenPrefixes().find((prefix) => value.startsWith(prefix) && value.length > prefix.length + 7) ?? ''
}

/** Anything else: the same length, unless that is too short, in the same kinds of characters. */
const textShape: ValueShape = {
  fits: () => true,
  placeholderFor: (value, ink) => {
    const [, body = '', padding = ''] = /^([\s\S]*?)(=*)$/.exec(value) ?? []
    return ink.signed(value, narrowestAlphabet(body), body.length) + padding
  },
  isPlaceholder: (value, ink) => ink.isSigned(value.replace(/=+$/, '')),
}

const VALUE_SHAPES: readonly ValueShape[] = [
  pemShape,
  jwtShape,
  uuidShape,
  emailShape,
  numberShape,
  prefixedShape,
]

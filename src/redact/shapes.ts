import { alphabetOf, isWrittenIn, BASE64, BASE64URL, DIGITS, HEX, LOWER_DIGITS } from './alphabet.ts'
import { shortestMarked, type Ink } from './ink.ts'
import { tokenPrefixes } from './rules.ts'
import { looksRandom } from './value-tests.ts'

/** A form that values have, and the stand-in of the same form. The first shape that fits is a value's shape. */
interface Shape {
  readonly fits: (value: string) => boolean
  readonly standIn: (value: string, ink: Ink) => string
  /** Whether a value of this shape is a stand-in; shapes that are too short to carry a mark cannot tell. */
  readonly isStandIn: (value: string, ink: Ink) => boolean
}

export function shapeOf(value: string): Shape {
  return SHAPES.find(({ fits }) => fits(value)) ?? text
}

/**
 * Whether this may be the stand-in of that value, as far as it can be told without the key: `like` is a stand-in of the value by
 * another key. One that has much of the value was not drawn by chance.
 */
export function couldStandFor(standIn: string, value: string, like: string): boolean {
  if (standIn.length !== like.length || shapeOf(standIn) !== shapeOf(like) || !looksRandom(standIn))
    return false
  const prefix = prefixOf(standIn)
  const drawn = standIn.slice(prefix.length).replaceAll(/[^\w+/-]/g, '')
  const alphabet = alphabetOf(value.slice(prefix.length))
  return prefix === prefixOf(like) && isWrittenIn(drawn, alphabet) && isUnlike(standIn, value)
}

/** Whether few characters of the one stand where the other has them, too. */
function isUnlike(one: string, other: string): boolean {
  return one.split('').filter((char, at) => char === other[at]).length * 3 < one.length
}

/** Whether a stand-in of this value has no room for a mark. */
export function isShort(value: string): boolean {
  return number.fits(value) && value.length < shortestMarked(DIGITS)
}

const PEM = /^(-----BEGIN [^-]*-----)([\s\S]*?)(-----END [^-]*-----)?$/
// A line break may itself be spelled out, once or twice escaped.
const PEM_BREAK = /\\+[nr]|\s/g

const pem: Shape = {
  fits: (value) => PEM.test(value),
  standIn: (value, ink) => {
    const [, begin = '', body = '', end = ''] = PEM.exec(value) ?? []
    const word = ink.marked(body.replaceAll(PEM_BREAK, ''), BASE64, lettersIn(body).length)
    let at = 0
    const written = body.replaceAll(/(\\+[nr])|[A-Za-z0-9+/]/g, (char, kept) => (kept ? char : word[at++]!))
    return begin + written + word.slice(at) + end
  },
  isStandIn: (value, ink) => ink.isMarked(lettersIn(PEM.exec(value)?.[2] ?? '')),
}

function lettersIn(body: string): string {
  return body.replaceAll(PEM_BREAK, '').replaceAll(/[^A-Za-z0-9+/]/g, '')
}

const JWT = /^eyJ[\w-]*\.[\w-]+\.([\w-]*)(\.[\w-]*){0,2}$/
const JWT_HEAD = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9' // {"alg":"HS256","typ":"JWT"}
const JWT_NOBODY = 'eyJzdWIiOiJzdGFuZC1pbiJ9' // {"sub":"stand-in"}

const jwt: Shape = {
  fits: (value) => JWT.test(value),
  standIn: (value, ink) => `${JWT_HEAD}.${JWT_NOBODY}.${ink.marked(value, BASE64URL, 43)}`,
  isStandIn: (value, ink) => ink.isMarked(JWT.exec(value)?.[1] ?? ''),
}

const UUID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i

const uuid: Shape = {
  fits: (value) => value.includes('-') && UUID.test(value),
  standIn: (value, ink) => {
    const [version = '4', variant = '8'] = [value[14], value[19]]
    const drawn = ink.plain(value.toLowerCase(), HEX, 24)
    const free = `${drawn.slice(0, 12)}${version}${drawn.slice(12, 15)}${variant}${drawn.slice(15)}`
    const hex = ink.sign(free.toLowerCase(), HEX)
    const dashed = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    return value === value.toUpperCase() ? dashed.toUpperCase() : dashed
  },
  isStandIn: (value, ink) => ink.isMarked(value.replaceAll('-', '').toLowerCase()),
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

const email: Shape = {
  fits: (value) => EMAIL.test(value),
  standIn: (value, ink) => `${ink.marked(value, LOWER_DIGITS, 10)}@mail.example`,
  isStandIn: (value, ink) => ink.isMarked(value.slice(0, value.indexOf('@'))),
}

/** In digits only: the same number of them, so that it stays in its range. */
const number: Shape = {
  fits: (value) => /^-?\d+([.,:/ -]\d+)*([eE][+-]?\d+)?$/.test(value),
  standIn: (value, ink) => {
    const digits = value.replaceAll(/[eE].*$|\D/g, '')
    const free = ink.marked(value, DIGITS, digits.length)
    const drawn = digits.length < shortestMarked(DIGITS) ? ink.plain(value, DIGITS, digits.length) : free
    let at = 0
    const written = value.replaceAll(/([eE].*$)|\d/g, (digit, kept) => (kept ? digit : drawn[at++]!))
    return digits.startsWith('0') ? written : withoutLeadingZero(written, digits.length, ink)
  },
  isStandIn: (value, ink) => /^\d+$/.test(value) && ink.isMarked(value),
}

/** No number of JSON begins with a zero. */
function withoutLeadingZero(written: string, digits: number, ink: Ink): string {
  const first = written.search(/\d/)
  if (written[first] !== '0' || written.length === 1) return written
  const begun = `${written.slice(0, first)}1${written.slice(first + 1)}`
  return digits === begun.length && digits >= shortestMarked(DIGITS)
    ? ink.sign(begun.slice(0, digits - MARKED_DIGITS), DIGITS)
    : begun
}

const MARKED_DIGITS = 7

/** A token that says by its beginning whose it is. */
const prefixed: Shape = {
  fits: (value) => prefixOf(value) !== '',
  standIn: (value, ink) => {
    const prefix = prefixOf(value)
    return prefix + text.standIn(value.slice(prefix.length), ink)
  },
  isStandIn: (value, ink) => text.isStandIn(value.slice(prefixOf(value).length), ink),
}

function prefixOf(value: string): string {
  return tokenPrefixes().find((prefix) => value.startsWith(prefix) && value.length > prefix.length + 7) ?? ''
}

/** Anything else: the same length, unless that is too short, in the same kinds of characters. */
const text: Shape = {
  fits: () => true,
  standIn: (value, ink) => {
    const [, body = '', padding = ''] = /^([\s\S]*?)(=*)$/.exec(value) ?? []
    return ink.marked(value, alphabetOf(body), body.length) + padding
  },
  isStandIn: (value, ink) => ink.isMarked(value.replace(/=+$/, '')),
}

const SHAPES: readonly Shape[] = [pem, jwt, uuid, email, number, prefixed]

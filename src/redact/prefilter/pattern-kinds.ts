import {
  isNameByte,
  type ByteTest,
  isCursorWordBefore,
  isEscapedLetter,
  isLongWord,
  isPasswordOptionNear,
  isUserinfo,
} from './byte-tests.ts'
import type { PatternKind } from './tables.ts'
import type { RedactionRule } from '../rules/rule.ts'

/** A name may go on for a little here, and is then given a value: `":`, `\":`, `=`. */
const isNameWithValue: ByteTest = (bytes, at, end) => {
  let next = at
  while (next < end && next < at + LONGEST_REST && isNameByte(bytes[next]!)) next++
  return (
    isValueNext(bytes, next, end) || isFlagBeforePassword(bytes, next, end) || isElementTag(bytes, next, end)
  )
}

/** An option ends here, and is given a value in either way. */
const isFlagGivenValue: ByteTest = (bytes, at, end) =>
  isValueNext(bytes, at, end) || isFlagBeforePassword(bytes, at, end)

/** A name ends here, and is given a value; in pairs, as `"name":"token","value":`, by the next member. */
const isValueNext: ByteTest = (bytes, at, end) => {
  const next = skipSpaces(bytes, skipQuote(bytes, at, end), end)
  if (bytes[next] === COLON || bytes[next] === EQUALS) return true
  if (bytes[next] === GREATER) return isElement(bytes, next + 1, end)
  if (bytes[next] === LESS) return matchesWordAt(bytes, next, KEY_END)
  if (ESCAPED_TAG.some((code) => matchesWordAt(bytes, next, code))) return true
  if (bytes[next] !== COMMA)
    return matchesWordAt(bytes, next, VALUE_GIVEN) || isStatedInSentence(bytes, at, next, end)
  const member = skipQuote(bytes, skipSpaces(bytes, next + 1, end), end)
  return matchesWordAt(bytes, member, VALUE)
}

/** An option ends here, as `--password` does, and what follows is no word of a sentence. */
const isFlagBeforePassword: ByteTest = (bytes, at, end) => {
  if (bytes[startOfName(bytes, at)] !== DASH) return false
  const gap = skipQuote(bytes, at, end)
  const next = skipListSeparator(bytes, gap, end)
  return next > gap && isPasswordLikeAt(bytes, skipQuote(bytes, next, end), end)
}

/** In `["--password", "x"]` a comma stands between the two. */
function skipListSeparator(bytes: Uint8Array, at: number, end: number): number {
  const next = skipSpaces(bytes, at, end)
  return bytes[next] === COMMA ? skipSpaces(bytes, next + 1, end) : next
}

/** `<password type="x">`: what is named here is an element with attributes. */
function isElementTag(bytes: Uint8Array, at: number, end: number): boolean {
  if (bytes[startOfName(bytes, at) - 1] !== LESS || bytes[at] !== SPACE) return false
  const last = Math.min(end, at + LONGEST_ELEMENT)
  for (let next = at; next < last; next++) if (bytes[next] === GREATER) return isElement(bytes, next + 1, end)
  return false
}

function startOfName(bytes: Uint8Array, at: number): number {
  let first = at
  while (first > 0 && first > at - LONGEST_NAME && isNameByte(bytes[first - 1]!)) first--
  return first
}

/** `password is x`: what follows is no word of a sentence. */
function isStatedInSentence(bytes: Uint8Array, at: number, next: number, end: number): boolean {
  if (next === at) return false
  const verb = STATED_VERBS.find((word) => matchesWordAt(bytes, next, word))
  return verb !== undefined && isPasswordLikeAt(bytes, skipQuote(bytes, next + verb.length, end), end)
}

/** Something stands between this end of a tag and the next one, which closes the element. */
function isElement(bytes: Uint8Array, at: number, end: number): boolean {
  const last = Math.min(end, at + LONGEST_ELEMENT)
  for (let next = at; next < last; next++)
    if (bytes[next] === LESS) return next > at && bytes[next + 1] === SLASH
  return false
}

/** A digit, a sign or a capital within the next word. */
export const isPasswordLikeAt: ByteTest = (bytes, at, end) => {
  const last = Math.min(end, at + LONGEST_WORD)
  for (let next = at; next < last && bytes[next]! > SPACE && !QUOTES.includes(bytes[next]!); next++) {
    const byte = bytes[next]!
    if (byte >= 0x30 && byte <= 0x39) return true
    if (SIGNS.includes(byte) && next > at) return true
    if (byte >= 0x41 && byte <= 0x5a && next > at && bytes[next - 1]! >= 0x61) return true
  }
  return false
}

function matchesWordAt(bytes: Uint8Array, at: number, word: ArrayLike<number>): boolean {
  for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word[index]) return false
  return true
}

function skipQuote(bytes: Uint8Array, at: number, end: number): number {
  let next = at
  while (next < end && bytes[next] === BACKSLASH) next++
  return QUOTES.includes(bytes[next] ?? 0) ? next + 1 : next
}

function skipSpaces(bytes: Uint8Array, at: number, end: number): number {
  let next = at
  while (next < end && bytes[next]! <= SPACE) next++
  return next
}

const LONGEST_REST = 24
const LONGEST_NAME = 64
const LONGEST_WORD = 64
/** Of a tag, and of what stands in an element. Both must fit between two cuts of a chunk (`record/suspicion.ts`). */
const LONGEST_ELEMENT = 200
const [SPACE, COMMA, DASH, SLASH, COLON] = [0x20, 0x2c, 0x2d, 0x2f, 0x3a]
const [LESS, EQUALS, GREATER, BACKSLASH] = [0x3c, 0x3d, 0x3e, 0x5c]
const encoder = new TextEncoder()
const QUOTES = encoder.encode(`"'\``)
const VALUE = encoder.encode('value')
const VALUE_GIVEN = encoder.encode('value=')
const KEY_END = encoder.encode('</key>')
/** How Go spells `>` and `<` in JSON; the backslash is skipped before. */
const ESCAPED_TAG = ['u003e', 'u003c'].map((code) => encoder.encode(code))
const STATED_VERBS = ['is ', 'was ', 'is: '].map((word) => encoder.encode(word))
const SIGNS = encoder.encode('!@#$%^&*~+')

export const EXACT: PatternKind = { isAnyCase: false }
export const ANY_CASE: PatternKind = { isAnyCase: true }
export const NAME: PatternKind = {
  isAnyCase: true,
  followedBy: isNameWithValue,
  notPrecededBy: isCursorWordBefore,
}
export const NAME_ENDING: PatternKind = { isAnyCase: true, followedBy: isValueNext }
export const FLAG_ENDING: PatternKind = { isAnyCase: true, followedBy: isFlagGivenValue }
export const ESCAPED_LETTER: PatternKind = { isAnyCase: true, followedBy: isEscapedLetter }

/** Every kind of pattern that the default rules and names have; the image of their tables counts on the order. */
export const PATTERN_KINDS: readonly PatternKind[] = [
  EXACT,
  ANY_CASE,
  NAME,
  NAME_ENDING,
  FLAG_ENDING,
  ESCAPED_LETTER,
  { isAnyCase: false, followedBy: isLongWord },
  { isAnyCase: false, followedBy: isUserinfo },
  { isAnyCase: false, followedBy: isPasswordLikeAt },
  { isAnyCase: false, followedBy: isPasswordOptionNear },
]

export function patternKindOf({ pattern, followedBy }: RedactionRule): PatternKind {
  return { isAnyCase: pattern.ignoreCase, followedBy }
}

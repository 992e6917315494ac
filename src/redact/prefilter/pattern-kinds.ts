import { judgeName } from '../secret-names.ts'
import { LEAST_NUMBERS, SHORTEST_GENERATED_PART } from '../value-checks.ts'
import { isLetterOrDigit, type ByteTest, type PatternKind } from './prefilter.ts'

// The tests below read the bytes after a keyword, or before it. They are cheaper than a regular expression on a string, and may
// accept too much: a text that passes is searched with the rules themselves.

/** The rest of a name, and then a value: `":`, `\":`, `=`. */
const isNameWithValue: ByteTest = (bytes, at, end) => {
  let next = at
  while (next < end && isNameByte(bytes[next]!)) if (++next > at + LONGEST_NAME) return false
  return (
    isValueNext(bytes, next, end) ||
    isFlagBeforePassword(bytes, next, end) ||
    isElementTag(bytes, next, end) ||
    isScrambledWordNear(bytes, next, end)
  )
}

/** A value, and before it a name that ends in `key` and suggests a secret: `datadog_api_key: x`, `access key: x`. */
const isKeyWithValue: ByteTest = (bytes, at, end) => {
  if (isNameByte(bytes[at] ?? 0) || !isNameWithValue(bytes, at, end)) return false
  let first = startOfName(bytes, at)
  if (bytes[first - 1] === SPACE) first = startOfName(bytes, first - 1)
  const verdict = judgeName(String.fromCharCode(...bytes.subarray(first, at)))
  return verdict === 'generated' ? isGeneratedWordNear(bytes, at, end) : verdict !== 'no'
}

/** A long word of letters with several numbers in it, soon after the name of a key. */
const isGeneratedWordNear: ByteTest = (bytes, at, end) => {
  const last = Math.min(end, at + LONGEST_GAP)
  let [numbers, length, wasDigit] = [0, 0, false]
  for (let next = at; next < end && (next < last || length > 0); next++) {
    const byte = bytes[next]!
    if (!isLetterOrDigit(byte)) {
      ;[numbers, length, wasDigit] = [0, 0, false]
      continue
    }
    const isDigit = byte <= DIGIT_NINE
    if (isDigit && !wasDigit) numbers++
    wasDigit = isDigit
    length++
    if (length >= SHORTEST_GENERATED_PART && numbers >= LEAST_NUMBERS) return true
  }
  return false
}

/** The end of an option, and then a value, with or without `=`. */
const isFlagGivenValue: ByteTest = (bytes, at, end) =>
  isValueNext(bytes, at, end) || isFlagBeforePassword(bytes, at, end)

/** The end of a name, and a value or a random word soon after it. */
const isNameBeforeValue: ByteTest = (bytes, at, end) =>
  !isLetterOrDigit(bytes[at] ?? 0) && (isValueNext(bytes, at, end) || isScrambledWordNear(bytes, at, end))

/** A word with two numbers in it, such as `Tr0ub4dor`, or a value in quotes with a digit after a bracket or a comma. */
const isScrambledWordNear: ByteTest = (bytes, at, end) => {
  const last = Math.min(end, at + LONGEST_GAP)
  for (let next = at; next < last; next++) {
    if (!isLetterOrDigit(bytes[next]!)) continue
    let numbers = 0
    const first = next
    for (
      let wasDigit = false;
      next < end && next < first + LONGEST_WORD && isLetterOrDigit(bytes[next]!);
      next++
    ) {
      const isDigit = bytes[next]! <= DIGIT_NINE
      if (isDigit && !wasDigit) numbers++
      wasDigit = isDigit
    }
    if (numbers >= 2 && next - first >= SHORTEST_SCRAMBLED) return true
    if (numbers >= 1 && next - first >= SHORTEST_QUOTED && QUOTES.includes(bytes[first - 1] ?? 0)) return true
  }
  return false
}

/** The end of a name, and then a value. In `"name":"token","value":"x"` the next member holds the value. */
const isValueNext: ByteTest = (bytes, at, end) => {
  const next = skipSpaces(bytes, skipSigns(bytes, skipQuote(bytes, at, end), end), end)
  if (bytes[next] === COLON || bytes[next] === EQUALS) return true
  if (bytes[next] === DASH && bytes[next + 1] === GREATER) return true
  if (bytes[next] === GREATER) return isElement(bytes, next + 1, end)
  if (bytes[next] === LESS) return matchesWordAt(bytes, next, KEY_END)
  if (bytes[next] === ESCAPE || matchesWordAt(bytes, next, ESCAPED_ESCAPE)) return true // the end of a color
  if (ESCAPED_TAG.some((code) => matchesWordAt(bytes, next, code))) return true
  if (bytes[next] !== COMMA)
    return matchesWordAt(bytes, next, VALUE_GIVEN) || isStatedInSentence(bytes, at, next, end)
  const member = skipQuote(bytes, skipSpaces(bytes, next + 1, end), end)
  return VALUES_OF_PAIRS.some((word) => matchesWordAt(bytes, member, word))
}

/** The end of an option such as `--password`, and then a word that looks like a password. */
const isFlagBeforePassword: ByteTest = (bytes, at, end) => {
  if (bytes[startOfName(bytes, at)] !== DASH) return false
  const gap = skipQuote(bytes, at, end)
  const next = skipListSeparator(bytes, gap, end)
  return next > gap && isPasswordLikeAt(bytes, skipQuote(bytes, next, end), end)
}

/** The comma in `["--password", "x"]`. */
function skipListSeparator(bytes: Uint8Array, at: number, end: number): number {
  const next = skipSpaces(bytes, at, end)
  return bytes[next] === COMMA ? skipSpaces(bytes, next + 1, end) : next
}

/** The attributes of an element, and then its content: `<password type="x">`. */
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

/** A sentence such as `password is x`, in which `x` looks like a password. */
function isStatedInSentence(bytes: Uint8Array, at: number, next: number, end: number): boolean {
  if (next === at) return false
  const verb = STATED_VERBS.find((word) => matchesWordAt(bytes, next, word))
  return verb !== undefined && isPasswordLikeAt(bytes, skipQuote(bytes, next + verb.length, end), end)
}

/** The content of an element up to its closing tag; false if the element is empty. */
function isElement(bytes: Uint8Array, at: number, end: number): boolean {
  const last = Math.min(end, at + LONGEST_ELEMENT)
  if (bytes[at] === LESS && bytes[at + 1] === EXCLAMATION) return true // CDATA
  for (let next = at; next < last; next++)
    if (bytes[next] === LESS) return next > at && bytes[next + 1] === SLASH
  return false
}

/** A word with a digit, a sign, or a capital after a small letter. */
const isPasswordLikeAt: ByteTest = (bytes, at, end) => {
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

/** The bracket in `[password] =>`, and the stars in `**password**:`. */
function skipSigns(bytes: Uint8Array, at: number, end: number): number {
  let next = at
  while (next < end && next < at + 2 && (bytes[next] === STAR || bytes[next] === CLOSING)) next++
  return next
}

function skipSpaces(bytes: Uint8Array, at: number, end: number): number {
  let next = at
  while (next < end && bytes[next]! <= SPACE) next++
  return next
}

/** A one-letter option on the same line, or on one that continues it, that takes a password in some programs. */
const isPasswordOptionNear: ByteTest = (bytes, at, end) => {
  const last = Math.min(end - 2, at + LONGEST_LINE)
  for (let next = at; next < last; next++) {
    if (bytes[next] === NEWLINE && bytes[next - 1] !== BACKSLASH && bytes[next - 2] !== BACKSLASH)
      return false
    if (bytes[next] === SPACE && bytes[next + 1] === DASH && OPTIONS.includes(bytes[next + 2]!)) return true
  }
  return false
}

/** The user and password of a URL, up to the `@`. */
const isUserinfo: ByteTest = (bytes, at, end) => {
  const last = Math.min(end, at + LONGEST_USERINFO)
  for (let next = at; next < last; next++) {
    if (bytes[next] === AT) return next > at
    if (bytes[next]! <= SPACE || NO_USERINFO.includes(bytes[next]!)) return false
  }
  return false
}

/** At least this many of these bytes. */
function runOf(length: number, isPart: (byte: number) => boolean): ByteTest {
  return (bytes, at, end) => {
    if (at + length > end) return false
    for (let next = at; next < at + length; next++) if (!isPart(bytes[next]!)) return false
    return true
  }
}

const isFirstPartOfUuid: ByteTest = (bytes, at, end) => isEightHex(bytes, at, end) && bytes[at + 8] === DASH

/** The rest of a word, and a dot after it. */
const isDottedWord: ByteTest = (bytes, at, end) => {
  const last = Math.min(end, at + LONGEST_DOTTED_WORD)
  let next = at
  while (next < last && isTokenByte(bytes[next]!)) next++
  return bytes[next] === DOT && next - at >= SHORTEST_DOTTED_WORD
}

/** The rest of a word of base64, and after a dot another one that begins like a JSON object. */
const isDottedJson: ByteTest = (bytes, at, end) => {
  const last = Math.min(end, at + LONGEST_JSON_HEADER)
  let next = at
  while (next < last && isTokenByte(bytes[next]!)) next++
  return bytes[next] === DOT && matchesWordAt(bytes, next + 1, BASE64_OF_JSON)
}

/**
 * The text after a keyword in base64, for keywords that are so short that they appear in any picture: what follows is printable.
 * `skip` is the number of characters up to the next group of four.
 */
function printableBase64(skip: number): ByteTest {
  return (bytes, at, end) => {
    for (let group = at + skip; group < at + skip + 2 * BASE64_GROUP; group += BASE64_GROUP) {
      if (group + BASE64_GROUP > end) return true
      let bits = 0
      for (let next = group; next < group + BASE64_GROUP; next++) {
        const value = BASE64_VALUES[bytes[next]!]!
        if (value === NOT_BASE64) return BASE64_BREAKS.includes(bytes[next]!)
        bits = (bits << 6) | value
      }
      if (!isPrintable(bits >> 16) || !isPrintable((bits >> 8) & 255) || !isPrintable(bits & 255))
        return false
    }
    return true
  }
}

function isPrintable(byte: number): boolean {
  return (byte >= SPACE && byte < 0x7f) || byte === NEWLINE || byte === CARRIAGE_RETURN || byte === TAB
}

/** A character of the word that the keyword would be part of. The last character of an escape is not part of it. */
const isInsideWord: ByteTest = (bytes, at) =>
  isTokenByte(bytes[at - 1] ?? 0) &&
  bytes[at - 2] !== BACKSLASH &&
  !isColor(bytes, at) &&
  bytes[at - 3] !== PERCENT &&
  !(bytes[at - 5] === LETTER_U && bytes[at - 6] === BACKSLASH)

/** The end of a terminal color, `[31m`. */
function isColor(bytes: Uint8Array, at: number): boolean {
  const before = bytes[at - 2] ?? 0
  return bytes[at - 1] === LETTER_M && (before === BRACKET || (before >= 0x30 && before <= DIGIT_NINE))
}

/** The hex digits of a letter, a digit or a dash. These need no escape, so an escaped one may hide a keyword. */
const isEscapedLetter: ByteTest = (bytes, at) => {
  const first = bytes[at] ?? 0
  return (
    (first >= 0x34 && first <= 0x37) ||
    (first === 0x33 && bytes[at + 1]! < 0x3a) ||
    (first === 0x32 && bytes[at + 1]! > 0x60)
  )
}

/** A word before `token` that says that the token is a cursor, not a secret. */
const isCursorWordBefore: ByteTest = (bytes, at) =>
  CURSOR_WORDS.some((word) =>
    word.every((byte, index) => ((bytes[at - word.length + index] ?? 0) | 0x20) === byte),
  )

/** So many characters before the keyword that it cannot be the beginning of a token. */
const isInsideLongWord: ByteTest = (bytes, at) => {
  if (!isLetterOrDigit(bytes[at - 1] ?? 0)) return false // after `+`, as in the query of a URL, a word begins
  for (let before = 2; before <= 8; before++) if (!isWordByte(bytes[at - before] ?? 0)) return false
  return bytes[at - 2] !== BACKSLASH
}

const WORD_TESTS = { word: isInsideWord, 'long-word': isInsideLongWord }

const encoder = new TextEncoder()
const LONGEST_GAP = 48
const [SHORTEST_SCRAMBLED, SHORTEST_QUOTED] = [8, 6]
const DIGIT_NINE = 0x39
const LONGEST_NAME = 64
const LONGEST_WORD = 64
/** Longest tag, and longest content of an element. */
const LONGEST_ELEMENT = 200
const [TAB, NEWLINE, CARRIAGE_RETURN, SPACE, PERCENT] = [0x09, 0x0a, 0x0d, 0x20, 0x25]
const [PLUS, COMMA, DASH, DOT, SLASH, COLON, LETTER_U] = [0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x3a, 0x75]
const [LETTER_M, BRACKET, CLOSING, STAR, EXCLAMATION] = [0x6d, 0x5b, 0x5d, 0x2a, 0x21]
const [LESS, EQUALS, GREATER, AT, BACKSLASH] = [0x3c, 0x3d, 0x3e, 0x40, 0x5c]
const QUOTES = encoder.encode(`"'\``)
const VALUES_OF_PAIRS = ['value', 'Value', 'VALUE', 'val', 'v"'].map((word) => encoder.encode(word))
const VALUE_GIVEN = encoder.encode('value=')
const KEY_END = encoder.encode('</key>')
/** `>` and `<` as Go escapes them in JSON, without the backslash. */
const ESCAPED_TAG = ['u003e', 'u003c'].map((code) => encoder.encode(code))
const ESCAPE = 0x1b
const ESCAPED_ESCAPE = encoder.encode('u001b')
const STATED_VERBS = ['is ', 'was ', 'is: '].map((word) => encoder.encode(word))
const SIGNS = encoder.encode('!@#$%^&*~+')
const LONGEST_LINE = 320
const [SHORTEST_DOTTED_WORD, LONGEST_DOTTED_WORD] = [12, 40]
const LONGEST_JSON_HEADER = 2000
const BASE64_OF_JSON = encoder.encode('eyJ')
const BASE64_GROUP = 4
const NOT_BASE64 = 255
/** Padding, and what separates the lines of base64. */
const BASE64_BREAKS = encoder.encode('=\\\r\n')
const BASE64_VALUES = new Uint8Array(256).fill(NOT_BASE64)
for (const last of ['+/', '-_']) {
  const alphabet = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${last}`
  for (let value = 0; value < alphabet.length; value++) BASE64_VALUES[alphabet.charCodeAt(value)] = value
}
const LONGEST_USERINFO = 250
const OPTIONS = encoder.encode('uUpPawNkb-')
const NO_USERINFO = encoder.encode(`/?#"'<>\\`)
const CURSOR_WORDS = ['progress', 'page', 'sync', 'continuation', 'cancellation'].map((word) =>
  encoder.encode(word),
)

function isNameByte(byte: number): boolean {
  return isLetterOrDigit(byte) || byte === 0x5f || byte === 0x2d || byte === 0x2e
}

function isTokenByte(byte: number): boolean {
  return isLetterOrDigit(byte) || byte === 0x5f || byte === DASH
}

function isWordByte(byte: number): boolean {
  return isLetterOrDigit(byte) || byte === PLUS
}

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20
  return (letter >= 0x61 && letter <= 0x66) || (byte >= 0x30 && byte <= 0x39)
}

export const EXACT: PatternKind = { isAnyCase: false }
export const ANY_CASE: PatternKind = { isAnyCase: true }
export const NAME: PatternKind = {
  isAnyCase: true,
  followedBy: isNameWithValue,
  notPrecededBy: isCursorWordBefore,
}
export const KEY_NAME: PatternKind = { isAnyCase: true, isWordEnd: true, followedBy: isKeyWithValue }
export const NAME_ENDING: PatternKind = { isAnyCase: true, isWordEnd: true, followedBy: isNameBeforeValue }
export const FLAG_ENDING: PatternKind = { isAnyCase: true, followedBy: isFlagGivenValue }
export const ESCAPED_LETTER: PatternKind = { isAnyCase: true, followedBy: isEscapedLetter }

/** Kinds of keywords in base64, by the number of characters up to the next group of four. */
export const BASE64: readonly PatternKind[] = [0, 1, 2, 3].map((skip) => ({
  isAnyCase: false,
  followedBy: printableBase64(skip),
}))

const isEightHex = runOf(8, isHexDigit)

/** The texts that a rule can require after its keyword. */
export type KeywordContext =
  | 'letters-digits'
  | 'long-word'
  | 'long-token'
  | 'dotted-word'
  | 'dotted-json'
  | 'hex'
  | 'digits'
  | 'uuid'
  | 'userinfo'
  | 'password-like'
  | 'password-option'
  | 'value'

const CONTEXT_TESTS: Readonly<Record<KeywordContext, ByteTest>> = {
  'letters-digits': runOf(12, isLetterOrDigit),
  'long-word': runOf(24, isLetterOrDigit),
  'long-token': runOf(20, isTokenByte),
  'dotted-word': isDottedWord,
  'dotted-json': isDottedJson,
  hex: runOf(24, isHexDigit),
  digits: runOf(10, (byte) => byte >= 0x30 && byte <= 0x39),
  uuid: isFirstPartOfUuid,
  userinfo: isUserinfo,
  'password-like': isPasswordLikeAt,
  'password-option': isPasswordOptionNear,
  value: isValueNext,
}

/** Every kind of pattern that a default rule or name can have. The generated tables refer to a kind by its index. */
export const PATTERN_KINDS: readonly PatternKind[] = [
  EXACT,
  ANY_CASE,
  NAME,
  NAME_ENDING,
  KEY_NAME,
  FLAG_ENDING,
  ESCAPED_LETTER,
  ...BASE64,
  ...[false, true].flatMap((isAnyCase) =>
    [undefined, ...Object.values(CONTEXT_TESTS)].flatMap((followedBy) =>
      [undefined, isInsideWord, isInsideLongWord].map((notPrecededBy) => ({
        isAnyCase,
        followedBy,
        notPrecededBy,
      })),
    ),
  ),
]

/** The kind of a rule's keywords. */
export function patternKindOf(rule: {
  readonly pattern: RegExp
  readonly followedBy?: KeywordContext
  readonly notInside?: 'word' | 'long-word'
}): PatternKind {
  const { pattern, followedBy, notInside } = rule
  return {
    isAnyCase: pattern.ignoreCase,
    followedBy: followedBy && CONTEXT_TESTS[followedBy],
    notPrecededBy: notInside && WORD_TESTS[notInside],
  }
}

import type { ValueLocation } from './binding.ts'
import { memberRanges, findRange, jsonLeaves, decodeLeaf } from '../json/find-replace.ts'
import { parseJson } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'

/** A value of a message: a leaf, or what stands in the JSON or base64 that a leaf holds. */
export interface MessageValue extends ValueLocation {
  readonly text: string
  /** Whether the text was opened, so that what it holds is told apart from it. */
  readonly opened: boolean
}

/** Every string and number of a message, the ones inside JSON and base64 texts too, and the names of MRTR rounds. */
export function messageValues(text: string): readonly MessageValue[] {
  return [...leafValues(text, (path) => ({ path, inside: [] })), ...inputNameValues(text)]
}

const DEEPEST_OPENED = 3
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

function leafValues(json: string, spotAt: (path: JsonPath) => ValueLocation): readonly MessageValue[] {
  return jsonLeaves(json).flatMap((leaf) => {
    const value = { text: decodeLeaf(json, leaf), ...spotAt(leaf.path), opened: false }
    if (json[leaf.start] === '"') return openText(value)
    return LITERALS.has(value.text) ? [] : [value]
  })
}

function openText(value: MessageValue): readonly MessageValue[] {
  if (value.inside.length >= DEEPEST_OPENED) return [value]
  const json = embeddedJson(value.text)
  if (json !== undefined) return [{ ...value, opened: true }, ...embeddedJsonValues(value, json)]
  const decoded = decodeBase64Text(value.text)
  if (decoded === undefined) return [value]
  const inner = { ...value, text: decoded, inside: [...value.inside, { kind: 'base64' } as const] }
  return [{ ...value, opened: true }, ...openText(inner)]
}

/** The text, when it is a JSON object or array. */
export function embeddedJson(text: string): string | undefined {
  if (cannotStartJson(text.charCodeAt(0)) || !/^\s*[{[]/.test(text)) return undefined
  return parseJson(text) === undefined ? undefined : text
}

/** A letter, a digit or a mark that opens nothing: most texts begin with one. */
function cannotStartJson(code: number): boolean {
  return code > 0x20 && code < 0x7b && code !== 0x5b
}

function embeddedJsonValues({ path, inside }: ValueLocation, json: string): readonly MessageValue[] {
  return leafValues(json, (inner) => ({ path, inside: [...inside, { kind: 'json', path: inner }] }))
}

const INPUT_NAME_PATHS: readonly JsonPath[] = [
  ['result', 'inputRequests'],
  ['params', 'inputResponses'],
]

/** The names under which a server asks for input, and under which the client answers. */
function inputNameValues(text: string): readonly MessageValue[] {
  return INPUT_NAME_PATHS.flatMap((path) => {
    const range = findRange(text, path)
    if (range === undefined || text[range.start] !== '{') return []
    const keys = [...memberRanges(text.slice(range.start, range.end)).keys()]
    return keys.map((key, index) => ({ text: key, path, inside: [{ kind: 'key', index }], opened: false }))
  })
}

/** The text that a base64 string encodes; undefined when it is no base64, or encodes no readable text. */
export function decodeBase64Text(text: string): string | undefined {
  if (text.length < 8 || text.length > LONGEST_BASE64 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text))
    return undefined
  try {
    const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
    const binary = atob(plain)
    if (NOT_TEXT.test(binary)) return undefined
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0))
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return isReadable(decoded) && encodeBase64Like(text, decoded) === text ? decoded : undefined
  } catch {
    return undefined // most strings of these letters are no base64
  }
}

// Control characters, and bytes that no UTF-8 has: a uuid has the letters of base64, and to catch an error takes longer than to look.
const NOT_TEXT = /[^\t\n\r\x20-\x7e\x80-\xbf\xc2-\xf4]|^[\x80-\xbf]/

const LONGEST_BASE64 = 8192 // cursors and states are short; a picture is no handle

/** Encodes a text in the alphabet and with the padding of another one. */
export function encodeBase64Like(model: string, text: string): string {
  const plain = btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  const padded = model.endsWith('=') || model.length % 4 === 0 ? plain : plain.replace(/=+$/, '')
  return /[-_]/.test(model) ? padded.replaceAll('+', '-').replaceAll('/', '_') : padded
}

// Text that was encoded on purpose holds no control characters; random letters that happen to decode do.
function isReadable(text: string): boolean {
  return !/[^\P{C}\t\n\r]/u.test(text)
}

/** A stretch of a text that may be a value of its own. */
export interface TextPiece {
  readonly start: number
  readonly end: number
}

// A path, a URI or a uuid is made of a few runs; a longer piece is none of them.
const MOST_RUNS = 12

/**
 * The stretches of a text that are meant: each starts and ends at the edge of a run of letters and digits, without a space
 * inside. So tokens, parts of a composite, segments and query values of a URI and folders of a path are found. Of pieces in
 * one place the longest comes first, because a uuid is no five handles.
 */
export function findPieces(text: string, isMeant: (piece: string) => boolean): readonly TextPiece[] {
  return findPiecesByWord(text, (word) => findPiecesInWord(word, isMeant))
}

/** The same for whoever knows the pieces of a word: they hang on nothing around it. */
export function findPiecesByWord(
  text: string,
  inWord: (word: string) => readonly TextPiece[],
): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    for (const { start, end } of inWord(word)) pieces.push({ start: start + index, end: end + index })
  }
  return pieces
}

/** The pieces of one word. */
export function findPiecesInWord(word: string, isMeant: (piece: string) => boolean): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  for (const piece of piecesOfWord(word))
    for (const one of pieceVariants(word, piece))
      if (isMeant(word.slice(one.start, one.end))) pieces.push(one)
  return pieces
}

// Most words of most texts are plain, and are one run.
const PLAIN_WORD = /^[A-Za-z]+(?=[.,;:!?]?$)/

function piecesOfWord(word: string): Iterable<TextPiece> {
  const plain = PLAIN_WORD.exec(word)
  return plain === null ? runCombinations(word) : [{ start: 0, end: plain[0].length }]
}

function* runCombinations(word: string): Iterable<TextPiece> {
  const runs = [...word.matchAll(WORD_RUNS)].map(({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }))
  for (let size = Math.min(MOST_RUNS, runs.length); size > 0; size--) {
    for (let first = 0; first + size <= runs.length; first++)
      yield { start: runs[first]?.start ?? 0, end: runs[first + size - 1]?.end ?? 0 }
  }
}

// An absolute path starts with its slash, and base64 may end in its padding.
function pieceVariants(text: string, piece: TextPiece): readonly TextPiece[] {
  const { start, end } = piece
  if (text[start - 1] !== '/' && text[end] !== '=') return [piece]
  const isPath = /(^|[\s"'`=(]|:\/\/)\/$/.test(text.slice(Math.max(0, start - 5), start))
  const padding = /^={1,2}(?![\p{L}\p{N}])/u.exec(text.slice(end, end + 3))?.[0] ?? ''
  return [
    ...(isPath ? [{ start: start - 1, end }] : []),
    ...(padding === '' ? [] : [{ start, end: end + padding.length }]),
    piece,
  ]
}

/** The words that name a piece: what stands right before it in its text, behind the last number. */
export function labelWordsBefore(text: string, start: number): readonly string[] {
  const lead = text.slice(Math.max(0, start - 40), start).replace(/^.*\p{N}/su, '')
  return (lead.match(/\p{L}+/gu) ?? []).slice(-3)
}

/**
 * The runs of letters and digits that a text is made of; a uuid is one of them. Its groups are short and no values by
 * themselves: among many uuids each of them stands in another one, or is some number of the client, by chance.
 */
export const WORD_RUNS: RegExp = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\p{L}\p{N}])|[\p{L}\p{N}]+/giu

/** Whether a run of plain letters and digits goes on at a character, of which so many belong to it already. */
export function continuesRun(text: string, at: number, length: number): boolean {
  const code = text.charCodeAt(at)
  return isAsciiAlphanumeric(code) || (code === DASH && isUuidDash(length) && isUuidAt(text, at - length))
}

export function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function isUuidAt(text: string, start: number): boolean {
  for (let at = 0; at < UUID_LENGTH; at++) {
    const code = text.charCodeAt(start + at)
    if (isUuidDash(at) ? code !== DASH : !isHexDigit(code)) return false
  }
  return !isAsciiAlphanumeric(text.charCodeAt(start + UUID_LENGTH))
}

const UUID_LENGTH = 36
const DASH = 0x2d

function isUuidDash(at: number): boolean {
  return at === 8 || at === 13 || at === 18 || at === 23
}

function isAsciiAlphanumeric(code: number): boolean {
  return isAsciiLetter(code) || isDigit(code)
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x61 && code <= 0x66) || (code >= 0x41 && code <= 0x46)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** A copy of plain data that stands alone: a text that was cut out of a longer one keeps all of that in memory. */
export function detachedCopy<Data>(data: Data): Data {
  return structuredClone(data)
}

/**
 * How sure it is that two equal values are one: `strong` when nobody makes it up twice, `fair` when names must agree,
 * `weak` for small numbers and plain words, `none` for what can be no handle at all.
 */
type Distinctness = 'strong' | 'fair' | 'weak' | 'none'

export function distinctnessOf(value: string): Distinctness {
  if (NEVER.has(value)) return 'none'
  if (/^-?\d+(\.\d+)?$/.test(value)) return distinctnessOfNumber(value)
  if (value.length < SHORTEST) return 'none'
  return distinctnessOfText(value)
}

/** Whether a value is a number by its spelling. */
export function isNumericText(value: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(value)
}

const SHORTEST = 3
const NEVER: ReadonlySet<string> = new Set(['true', 'false', 'null', 'undefined', 'none', '0', ''])

function distinctnessOfNumber(value: string): Distinctness {
  const digits = value.replace(/\D/g, '')
  if (digits.endsWith('000') || isYear(value)) return 'weak'
  if (digits.length >= 6) return 'strong'
  return digits.length >= 4 ? 'fair' : 'weak'
}

function isYear(value: string): boolean {
  return /^(19|20)\d\d$/.test(value)
}

function distinctnessOfText(value: string): Distinctness {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return 'fair'
  if (/^#[0-9a-f]{3,8}$/i.test(value)) return 'weak'
  if (/^\d+(\.\d+){1,3}$|^\d{1,2}:\d\d(:\d\d)?$|^v?\d+(\.\d+)+$/.test(value)) return 'weak'
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value) || /^\/[^/\s]+(\/[^/\s]+)+\/?$/.test(value)) return 'strong'
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) return 'strong'
  if (/\s/.test(value)) return value.length >= 24 && /\d/.test(value) ? 'fair' : 'weak'
  return distinctnessOfWord(value)
}

function distinctnessOfWord(value: string): Distinctness {
  const [letters, digits] = [/\p{L}/u.test(value), /\d/.test(value)]
  if (letters && digits) return isNumberedName(value) ? 'fair' : strongWhenLong(value, 6)
  if (/\p{Ll}\p{Lu}/u.test(value) && !/[^\p{L}\p{N}+/=_-]/u.test(value) && value.length >= 12) return 'strong'
  if (digits) return strongWhenLong(value, 8)
  return /[-_./:#]/.test(value) ? 'fair' : 'weak'
}

// `item1`, `page-2`, `eu-west-1`, `gpt-4o-mini`, `sha256`: words with a number, and many things are called so.
function isNumberedName(value: string): boolean {
  return value.split(/[-_.:/ ]/).every((part) => part.length <= 3 || /^(\p{L}+\d{0,3}|\d{1,4})$/u.test(part))
}

function strongWhenLong(value: string, length: number): Distinctness {
  return value.length >= length ? 'strong' : 'fair'
}

import type { ValueLocation } from './binding.ts'
import { memberRanges, findRange, jsonLeaves, decodeLeaf } from '../json/find-replace.ts'
import { parseJson } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'

/** A value of a message: a leaf, or a value in the JSON or base64 that a leaf contains. */
export interface MessageValue extends ValueLocation {
  readonly text: string
  /** True if the text was decoded, so that the values in it are listed separately. */
  readonly opened: boolean
}

/** Lists all strings and numbers of a message, including those inside JSON and base64 texts, and the names of input requests. */
export function messageValues(text: string): readonly MessageValue[] {
  return [...leafValues(text, (path) => ({ path, inside: [] })), ...inputNameValues(text)]
}

const DEEPEST_OPENED = 3
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

function leafValues(json: string, locationAt: (path: JsonPath) => ValueLocation): readonly MessageValue[] {
  return jsonLeaves(json).flatMap((leaf) => {
    const value = { text: decodeLeaf(json, leaf), ...locationAt(leaf.path), opened: false }
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

/** Returns the text if it is a JSON object or array. */
export function embeddedJson(text: string): string | undefined {
  if (cannotStartJson(text.charCodeAt(0)) || !/^\s*[{[]/.test(text)) return undefined
  return parseJson(text) === undefined ? undefined : text
}

/** True for most first characters of texts. It is a cheap check before the text is parsed. */
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

/** The names of the input requests of a server and of the responses of the client. */
function inputNameValues(text: string): readonly MessageValue[] {
  return INPUT_NAME_PATHS.flatMap((path) => {
    const range = findRange(text, path)
    if (range === undefined || text[range.start] !== '{') return []
    const keys = [...memberRanges(text.slice(range.start, range.end)).keys()]
    return keys.map((key, index) => ({ text: key, path, inside: [{ kind: 'key', index }], opened: false }))
  })
}

/** Decodes base64. Returns `undefined` if the string is not base64 or does not encode readable text. */
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
    return undefined // Most strings of these letters are not base64.
  }
}

// Control characters, and bytes that do not occur in UTF-8. Many ids look like base64, and this check is faster than catching the
// error.
const NOT_TEXT = /[^\t\n\r\x20-\x7e\x80-\xbf\xc2-\xf4]|^[\x80-\xbf]/

const LONGEST_BASE64 = 8192 // Cursors and states are short. Images are never handles.

/** Encodes a text in the alphabet and with the padding of `model`. */
export function encodeBase64Like(model: string, text: string): string {
  const plain = btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  const padded = model.endsWith('=') || model.length % 4 === 0 ? plain : plain.replace(/=+$/, '')
  return /[-_]/.test(model) ? padded.replaceAll('+', '-').replaceAll('/', '_') : padded
}

// Text that was encoded on purpose contains no control characters. Random letters that can be decoded usually do.
function isReadable(text: string): boolean {
  return !/[^\P{C}\t\n\r]/u.test(text)
}

/** A part of a text that may be a value. */
export interface TextPiece {
  readonly start: number
  readonly end: number
}

// Paths, URIs and UUIDs consist of a few runs.
const MOST_RUNS = 12

/**
 * Finds the pieces of a text that `isMeant` accepts. A piece starts and ends at the edge of a run of letters and digits and
 * contains no space: a token, a part of a composite, a segment or query value of a URI, a folder of a path. Of overlapping
 * pieces the longest comes first.
 */
export function findPieces(text: string, isMeant: (piece: string) => boolean): readonly TextPiece[] {
  return findPiecesByWord(text, (word) => findPiecesInWord(word, isMeant))
}

/** Does the same with a function that finds the pieces of one word, so that its results can be cached. */
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

export function findPiecesInWord(word: string, isMeant: (piece: string) => boolean): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  for (const piece of piecesOfWord(word))
    for (const variant of pieceVariants(word, piece))
      if (isMeant(word.slice(variant.start, variant.end))) pieces.push(variant)
  return pieces
}

// Most words are a single run of letters.
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

// An absolute path includes its leading slash, and base64 includes its padding.
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

/** Returns up to three words right before a piece, after the last number. They often name it: `issue 42`. */
export function labelWordsBefore(text: string, start: number): readonly string[] {
  const lead = text.slice(Math.max(0, start - 40), start).replace(/^.*\p{N}/su, '')
  return (lead.match(/\p{L}+/gu) ?? []).slice(-3)
}

/**
 * Matches the runs of letters and digits in a text. A UUID is one run, because its groups are short: by chance they also
 * occur in other UUIDs or are equal to numbers of the client.
 */
export const WORD_RUNS: RegExp = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\p{L}\p{N}])|[\p{L}\p{N}]+/giu

/** Returns true if a run of ASCII letters and digits, of which `length` characters precede `at`, includes the character at `at`. */
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

/** Copies plain data. A text that was cut out of a longer one would keep the longer one in memory. */
export function detachedCopy<Data>(data: Data): Data {
  return structuredClone(data)
}

/**
 * How likely two equal values are the same value. `strong`: unlikely to be generated twice. `fair`: the names must agree.
 * `weak`: small numbers and plain words. `none`: never a handle.
 */
type Distinctness = 'strong' | 'fair' | 'weak' | 'none'

export function distinctnessOf(value: string): Distinctness {
  if (NEVER.has(value)) return 'none'
  if (isNumericText(value)) return distinctnessOfNumber(value)
  if (value.length < SHORTEST) return 'none'
  return distinctnessOfText(value)
}

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

// Words with a number, such as `item1`, `page-2`, `eu-west-1`, `gpt-4o-mini` and `sha256`, are common names.
function isNumberedName(value: string): boolean {
  return value.split(/[-_.:/ ]/).every((part) => part.length <= 3 || /^(\p{L}+\d{0,3}|\d{1,4})$/u.test(part))
}

function strongWhenLong(value: string, length: number): Distinctness {
  return value.length >= length ? 'strong' : 'fair'
}

import { findRange, replaceRange } from '../json/find-replace.ts'
import { parseJson } from '../json/parse.ts'
import {
  BACKSLASH,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfDigits,
  endOfPlainString,
  endOfStringBytes,
  endOfValueBytes,
  hasTextAt,
  isDigit,
  OPEN_OBJECT,
  QUOTE,
  skipSpaces,
  ZERO,
  type JsonRange,
} from '../json/scan.ts'

// Peers write the id directly after the version, or last. There it can be found without reading the rest of a message.
const PLAIN_ID = String.raw`(0|[1-9]\d{0,14}|"[^"\\\x00-\x1f]{0,62}")`
const ID_AT_START = new RegExp(`^\\{"jsonrpc":"2\\.0","id":${PLAIN_ID},`)
const ID_AT_END = new RegExp(`,"id":${PLAIN_ID}\\}$`)
const MAX_LENGTH_AT_END = 72

/** The range of the id of a message that JSON.parse has accepted, or `undefined` if it has none. */
export function findId(text: string): JsonRange | undefined {
  return idAtEnd(text) ?? onlyIdAtStart(text) ?? findRange(text, ['id'])
}

/** The message with another id, given as JSON. Every other byte is kept. */
export function replaceId(text: string, id: string, range: JsonRange | undefined = findId(text)): string {
  return range === undefined ? text : replaceRange(text, range, id)
}

/**
 * The likely range of the id of a message, found without reading the whole text. The id is a number of at most 15 digits or
 * a short string without escapes. The text may contain another id or be invalid, so the caller must check the result.
 */
export function guessId(text: string): JsonRange | undefined {
  return idAtEnd(text) ?? idAtStart(text)
}

/** The likely id of the request that a result answers, if it is a number. The caller must check it, as with `guessId`. */
export function guessResultId(text: string): number | undefined {
  const range = guessId(text)
  if (range === undefined || text[range.start] === '"') return undefined
  const isAtEnd = range.end === text.length - 1
  const isResult = isAtEnd ? text.startsWith('{"result":') : text.startsWith('"result":', range.end + 1)
  return isResult ? Number(text.slice(range.start, range.end)) : undefined
}

function idAtEnd(text: string): JsonRange | undefined {
  const number = numberAtEnd(text)
  if (number !== undefined) return number
  const id = ID_AT_END.exec(text.slice(-MAX_LENGTH_AT_END))?.[1]
  return id === undefined ? undefined : { start: text.length - 1 - id.length, end: text.length - 1 }
}

/** Most ids are numbers, which are found faster without a pattern. */
function numberAtEnd(text: string): JsonRange | undefined {
  const end = text.length - 1
  let start = end
  while (start > end - MAX_DIGITS && isDigit(text.charCodeAt(start - 1))) start--
  const isNumber = start < end && (start === end - 1 || text.charCodeAt(start) !== ZERO)
  const isId = isNumber && text.endsWith('}') && text.startsWith(BEFORE_NUMBER, start - BEFORE_NUMBER.length)
  return isId ? { start, end } : undefined
}

const MAX_DIGITS = 15
const BEFORE_NUMBER = ',"id":'

function idAtStart(text: string): JsonRange | undefined {
  const id = ID_AT_START.exec(text)?.[1]
  return id === undefined ? undefined : { start: BEFORE_ID.length, end: BEFORE_ID.length + id.length }
}

const BEFORE_ID = '{"jsonrpc":"2.0","id":'

// If two members have the same name, the last one counts.
function onlyIdAtStart(text: string): JsonRange | undefined {
  const range = idAtStart(text)
  return range !== undefined && text.includes('"id"', range.end) ? undefined : range
}

/** Decodes the id in a range of bytes. Short numbers, the usual case, need no text. */
export function parseIdBytes(bytes: Uint8Array, start: number, end: number): unknown {
  if (endOfDigits(bytes, start, end) !== end) return parseJson(decoder.decode(bytes.subarray(start, end)))
  let value = 0
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] ?? 0) - ZERO
  return value
}

const decoder = new TextDecoder()

/**
 * The likely range of the id of a response. Looks first at the places where servers usually write it and skips the result,
 * so the bytes may be invalid or hold another id: the caller must check the result.
 */
export function guessResponseId(bytes: Uint8Array, start: number, end: number): JsonRange | undefined {
  if (bytes[end - 1] === CLOSE_OBJECT) {
    const range = responseIdAtStart(bytes, start, end) ?? responseIdAtEnd(bytes, start, end)
    if (range !== undefined) return range
  }
  return findResponseId(bytes, start, end)
}

function responseIdAtStart(bytes: Uint8Array, start: number, end: number): JsonRange | undefined {
  if (!hasTextAt(bytes, start, BEFORE_ID)) return undefined
  const id = start + BEFORE_ID.length
  const idEnd = bytes[id] === QUOTE ? endOfPlainString(bytes, id, end) : endOfDigits(bytes, id, end)
  return idEnd > id && hasTextAt(bytes, idEnd, ',"result":') ? { start: id, end: idEnd } : undefined
}

function responseIdAtEnd(bytes: Uint8Array, start: number, end: number): JsonRange | undefined {
  if (!hasTextAt(bytes, start, '{"result":')) return undefined
  let id = end - 1
  while (isDigit(bytes[id - 1])) id--
  if (endOfDigits(bytes, id, end) !== end - 1) return undefined
  return hasTextAt(bytes, id - BEFORE_LAST_ID.length, BEFORE_LAST_ID)
    ? { start: id, end: end - 1 }
    : undefined
}

const BEFORE_LAST_ID = ',"jsonrpc":"2.0","id":'

/**
 * The range of the id of a response in any order of its members, without reading its result. Returns `undefined` for
 * anything but a plain response: a call, a batch, an unusual key or id. Only quotes and brackets are read, so the caller
 * must check that the bytes are JSON.
 */
export function findResponseId(bytes: Uint8Array, start: number, end: number): JsonRange | undefined {
  const seen: SeenMembers = { hasVersion: false, outcomeCount: 0, start: -1, end: -1 }
  let at = skipSpaces(bytes, start)
  if (bytes[at] !== OPEN_OBJECT) return undefined
  do {
    const key = skipSpaces(bytes, at + 1)
    const keyEnd = bytes[key] === QUOTE ? endOfStringBytes(bytes, key, end) : -1
    const colon = keyEnd < 0 ? -1 : skipSpaces(bytes, keyEnd)
    if (colon < 0 || bytes[colon] !== COLON) return undefined
    const value = skipSpaces(bytes, colon + 1)
    const valueEnd = endOfValueBytes(bytes, value, end)
    if (valueEnd < 0 || !noteMember(seen, bytes, { key, keyEnd, value, valueEnd })) return undefined
    at = skipSpaces(bytes, valueEnd)
  } while (bytes[at] === COMMA)
  const isWhole = bytes[at] === CLOSE_OBJECT && at < end && skipSpaces(bytes, at + 1) >= end
  return isWhole && seen.hasVersion && seen.outcomeCount === 1 && seen.start >= 0 ? seen : undefined
}

interface SeenMembers {
  hasVersion: boolean
  outcomeCount: number
  start: number
  end: number
}

interface MemberBytes {
  readonly key: number
  readonly keyEnd: number
  readonly value: number
  readonly valueEnd: number
}

/** Returns `false` if the member shows that the message is not a plain response. */
function noteMember(
  seen: SeenMembers,
  bytes: Uint8Array,
  { key, keyEnd, value, valueEnd }: MemberBytes,
): boolean {
  switch (keyEnd - key - 2) {
    case 2:
      if (hasTextAt(bytes, key, '"id"')) return noteId(seen, bytes, value, valueEnd)
      break
    case 5:
      if (hasTextAt(bytes, key, '"error"')) return ++seen.outcomeCount === 1
      break
    case 6:
      if (hasTextAt(bytes, key, '"result"')) return ++seen.outcomeCount === 1
      if (hasTextAt(bytes, key, '"method"')) return false
      break
    case 7:
      if (hasTextAt(bytes, key, '"jsonrpc"')) return noteVersion(seen, bytes, value, valueEnd)
  }
  return hasNoEscapes(bytes, key, keyEnd)
}

function noteId(seen: SeenMembers, bytes: Uint8Array, start: number, end: number): boolean {
  const isFirst = seen.start < 0
  seen.start = start
  seen.end = end
  const isString = bytes[start] === QUOTE && hasNoEscapes(bytes, start, end)
  return isFirst && (isString || endOfDigits(bytes, start, end) === end)
}

function noteVersion(seen: SeenMembers, bytes: Uint8Array, start: number, end: number): boolean {
  const isFirst = !seen.hasVersion
  seen.hasVersion = end - start === 5 && hasTextAt(bytes, start, '"2.0"')
  return isFirst && seen.hasVersion
}

// A key with escapes may be any key, whatever its length.
function hasNoEscapes(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at++) if (bytes[at] === BACKSLASH) return false
  return true
}

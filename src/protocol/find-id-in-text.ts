import type { JsonRange } from '../json/find.ts'

/**
 * Where the id of a message probably stands: clients write it last, or first after the version. None when there is no short
 * number or plain string at either place.
 */
export function findIdAtEdge(text: string): JsonRange | undefined {
  return findIdAtEnd(text) ?? findIdAtStart(text)
}

const BEFORE_FIRST_ID = '{"jsonrpc":"2.0","id":'
const BEFORE_LAST_ID = '"id":'
const [QUOTE, BACKSLASH, CLOSE, COMMA, ZERO, NINE] = [0x22, 0x5c, 0x7d, 0x2c, 0x30, 0x39]
const MAX_ID_LENGTH = 64
const MAX_ID_DIGITS = 15

/** In an object that is JSON, this is its id and no other: what stands last counts. */
export function findIdAtEnd(text: string): JsonRange | undefined {
  const end = text.length - 1
  if (text.charCodeAt(end) !== CLOSE) return undefined
  const start = text.charCodeAt(end - 1) === QUOTE ? startOfString(text, end) : startOfDigits(text, end)
  return start !== undefined && text.startsWith(BEFORE_LAST_ID, start - BEFORE_LAST_ID.length)
    ? { start, end }
    : undefined
}

function findIdAtStart(text: string): JsonRange | undefined {
  if (!text.startsWith(BEFORE_FIRST_ID)) return undefined
  const start = BEFORE_FIRST_ID.length
  const end = text.charCodeAt(start) === QUOTE ? endOfString(text, start) : endOfDigits(text, start)
  return end === undefined || text.charCodeAt(end) !== COMMA ? undefined : { start, end }
}

function startOfString(text: string, end: number): number | undefined {
  for (let at = end - 2; at > end - MAX_ID_LENGTH; at--) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (!isUnescaped(code)) return undefined
  }
  return undefined
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < start + MAX_ID_LENGTH; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (!isUnescaped(code)) return undefined
  }
  return undefined
}

function startOfDigits(text: string, end: number): number | undefined {
  let start = end
  while (isDigit(text.charCodeAt(start - 1)) && end - start <= MAX_ID_DIGITS) start--
  return isIdNumber(text, start, end) ? start : undefined
}

function endOfDigits(text: string, start: number): number | undefined {
  let end = start
  while (isDigit(text.charCodeAt(end)) && end - start <= MAX_ID_DIGITS) end++
  return isIdNumber(text, start, end) ? end : undefined
}

function isIdNumber(text: string, start: number, end: number): boolean {
  const length = end - start
  return length > 0 && length <= MAX_ID_DIGITS && (length === 1 || text.charCodeAt(start) !== ZERO)
}

function isUnescaped(code: number): boolean {
  return code >= 0x20 && code !== BACKSLASH
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

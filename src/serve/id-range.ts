import type { Range } from '../wire/members.ts'

/**
 * Where the id of a message probably stands: clients write it last, or first after the version. None when there is no short
 * number or plain string at either place.
 */
export function idRangeAtEdge(text: string): Range | undefined {
  return idAtEnd(text) ?? idAtStart(text)
}

const AT_START = '{"jsonrpc":"2.0","id":'
const AT_END = '"id":'
const [QUOTE, BACKSLASH, CLOSE, COMMA, ZERO, NINE] = [0x22, 0x5c, 0x7d, 0x2c, 0x30, 0x39]
const LONGEST_ID = 64
const MOST_DIGITS = 15

/** In an object that is JSON, this is its id and no other: what stands last counts. */
export function idAtEnd(text: string): Range | undefined {
  const end = text.length - 1
  if (text.charCodeAt(end) !== CLOSE) return undefined
  const start = text.charCodeAt(end - 1) === QUOTE ? startOfString(text, end) : startOfDigits(text, end)
  return start !== undefined && text.startsWith(AT_END, start - AT_END.length) ? { start, end } : undefined
}

function idAtStart(text: string): Range | undefined {
  if (!text.startsWith(AT_START)) return undefined
  const start = AT_START.length
  const end = text.charCodeAt(start) === QUOTE ? endOfString(text, start) : endOfDigits(text, start)
  return end === undefined || text.charCodeAt(end) !== COMMA ? undefined : { start, end }
}

function startOfString(text: string, end: number): number | undefined {
  for (let at = end - 2; at > end - LONGEST_ID; at--) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (!isPlain(code)) return undefined
  }
  return undefined
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < start + LONGEST_ID; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (!isPlain(code)) return undefined
  }
  return undefined
}

function startOfDigits(text: string, end: number): number | undefined {
  let start = end
  while (isDigit(text.charCodeAt(start - 1)) && end - start <= MOST_DIGITS) start--
  return isNumber(text, start, end) ? start : undefined
}

function endOfDigits(text: string, start: number): number | undefined {
  let end = start
  while (isDigit(text.charCodeAt(end)) && end - start <= MOST_DIGITS) end++
  return isNumber(text, start, end) ? end : undefined
}

function isNumber(text: string, start: number, end: number): boolean {
  const length = end - start
  return length > 0 && length <= MOST_DIGITS && (length === 1 || text.charCodeAt(start) !== ZERO)
}

function isPlain(code: number): boolean {
  return code >= 0x20 && code !== BACKSLASH
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

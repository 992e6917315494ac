import type { ResponseIdRange } from './find-id-in-bytes.ts'

/**
 * The id of an answer as servers usually write it: version and id first and then the result, or the result first and then
 * version and id. The result itself is not looked at, so this is a guess to be checked by whoever takes the answer.
 */
export function findResponseIdAtEdges(
  bytes: Uint8Array,
  start: number,
  end: number,
): ResponseIdRange | undefined {
  return responseIdAtStart(bytes, start, end) ?? responseIdAtEnd(bytes, start, end)
}

const BEFORE_ID = '{"jsonrpc":"2.0","id":'
const AFTER_ID = ',"result":'
const BEFORE_RESULT = '{"result":'
const BEFORE_LAST_ID = ',"jsonrpc":"2.0","id":'
const [QUOTE, CLOSE, ZERO, NINE, BACKSLASH] = [0x22, 0x7d, 0x30, 0x39, 0x5c]
const MAX_ID_LENGTH = 64

function responseIdAtStart(bytes: Uint8Array, start: number, end: number): ResponseIdRange | undefined {
  if (!hasTextAt(bytes, start, BEFORE_ID) || bytes[end - 1] !== CLOSE) return undefined
  const id = start + BEFORE_ID.length
  const idEnd = bytes[id] === QUOTE ? endOfString(bytes, id) : endOfDigits(bytes, id)
  return idEnd > id && hasTextAt(bytes, idEnd, AFTER_ID) ? { start: id, end: idEnd } : undefined
}

function responseIdAtEnd(bytes: Uint8Array, start: number, end: number): ResponseIdRange | undefined {
  if (!hasTextAt(bytes, start, BEFORE_RESULT) || bytes[end - 1] !== CLOSE) return undefined
  let id = end - 1
  while (isDigit(bytes[id - 1])) id--
  if (id === end - 1 || (bytes[id] === ZERO && id < end - 2)) return undefined
  return hasTextAt(bytes, id - BEFORE_LAST_ID.length, BEFORE_LAST_ID)
    ? { start: id, end: end - 1 }
    : undefined
}

function hasTextAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return true
}

function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < start + MAX_ID_LENGTH; at++) {
    if (bytes[at] === QUOTE) return at + 1
    if (bytes[at] === BACKSLASH) return -1
  }
  return -1
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (isDigit(bytes[at])) at++
  return bytes[start] === ZERO && at > start + 1 ? -1 : at
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

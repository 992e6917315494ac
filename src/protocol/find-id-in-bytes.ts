/** Where the id of an answer stands among its bytes. */
export interface ResponseIdRange {
  readonly start: number
  readonly end: number
}

/**
 * The id of a JSON-RPC answer, found by its bytes and in any order of the keys, without a look into its result. None when the
 * bytes are no plain answer: a call, a batch, an odd key or id. Only brackets and quotes are looked at, so that bytes that are
 * no JSON may pass: whoever takes the answer later checks them.
 */
export function findResponseId(bytes: Uint8Array, start: number, end: number): ResponseIdRange | undefined {
  const seen: SeenMembers = { hasVersion: false, outcomeCount: 0, start: -1, end: -1 }
  let at = skipWhitespace(bytes, start)
  if (bytes[at] !== OPEN_OBJECT) return undefined
  do {
    const key = skipWhitespace(bytes, at + 1)
    const keyEnd = bytes[key] === QUOTE ? endOfString(bytes, key, end) : -1
    const colon = keyEnd < 0 ? -1 : skipWhitespace(bytes, keyEnd)
    if (colon < 0 || bytes[colon] !== COLON) return undefined
    const value = skipWhitespace(bytes, colon + 1)
    const valueEnd = endOfValue(bytes, value, end)
    if (valueEnd < 0 || !noteMember(seen, bytes, { key, keyEnd, value, valueEnd })) return undefined
    at = skipWhitespace(bytes, valueEnd)
  } while (bytes[at] === COMMA)
  const isWhole = bytes[at] === CLOSE_OBJECT && at < end && skipWhitespace(bytes, at + 1) >= end
  return isWhole && seen.hasVersion && seen.outcomeCount === 1 && seen.start >= 0 ? seen : undefined
}

interface SeenMembers {
  hasVersion: boolean
  outcomeCount: number
  start: number
  end: number
}

interface MemberRange {
  readonly key: number
  readonly keyEnd: number
  readonly value: number
  readonly valueEnd: number
}

/** Takes one member into account; false when it makes the message something else than a plain answer. */
function noteMember(
  seen: SeenMembers,
  bytes: Uint8Array,
  { key, keyEnd, value, valueEnd }: MemberRange,
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
  return isFirst && (isPlainString(bytes, start, end) || isShortNumber(bytes, start, end))
}

function noteVersion(seen: SeenMembers, bytes: Uint8Array, start: number, end: number): boolean {
  const isFirst = !seen.hasVersion
  seen.hasVersion = end - start === 5 && hasTextAt(bytes, start, '"2.0"')
  return isFirst && seen.hasVersion
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]
const [SPACE, COLON, COMMA, ZERO, NINE] = [0x20, 0x3a, 0x2c, 0x30, 0x39]
const SHORT_RUN = 48 // below this, a native search costs more than it saves
const MAX_ID_DIGITS = 15

function hasTextAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return true
}

// A key with escapes may be any key, whatever its length.
function hasNoEscapes(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at++) if (bytes[at] === BACKSLASH) return false
  return true
}

function isPlainString(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes[start] === QUOTE && hasNoEscapes(bytes, start, end)
}

function isShortNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_ID_DIGITS || (bytes[start] === ZERO && end - start > 1)) return false
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO || byte > NINE) return false
  }
  return end > start
}

function skipWhitespace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isWhitespace(bytes[at])) at++
  return at
}

function isWhitespace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 9 || byte === 10 || byte === 13
}

function endOfValue(bytes: Uint8Array, start: number, end: number): number {
  const byte = bytes[start]
  if (byte === QUOTE) return endOfString(bytes, start, end)
  if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return endOfContainer(bytes, start, end)
  let at = start
  while (at < end && bytes[at] !== COMMA && bytes[at] !== CLOSE_OBJECT && !isWhitespace(bytes[at])) at++
  return at > start ? at : -1
}

function endOfContainer(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0
  let at = start
  while (at < end) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at, end)
      if (at < 0) return -1
      continue
    }
    at++
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) return at
  }
  return -1
}

function endOfString(bytes: Uint8Array, start: number, end: number): number {
  const near = Math.min(start + SHORT_RUN, end)
  for (let at = start + 1; at < near; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return endOfLongString(bytes, start, end)
}

function endOfLongString(bytes: Uint8Array, start: number, end: number): number {
  let quote = bytes.indexOf(QUOTE, start + 1)
  while (quote >= 0 && quote < end && isEscaped(bytes, quote)) quote = bytes.indexOf(QUOTE, quote + 1)
  return quote < 0 || quote >= end ? -1 : quote + 1
}

function isEscaped(bytes: Uint8Array, at: number): boolean {
  let backslash = at - 1
  while (bytes[backslash] === BACKSLASH) backslash--
  return (at - backslash) % 2 === 0
}

// Primitives for reading JSON without parsing it, as text or as bytes. Each exists in two variants, because a
// shared one would have to call an accessor function for every byte.

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const SPACE = 0x20
export const COMMA = 0x2c
export const COLON = 0x3a
export const ZERO = 0x30
const NINE = 0x39
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
export const OPEN_ARRAY = 0x5b
export const CLOSE_ARRAY = 0x5d

/** A range of a JSON text: `text.slice(start, end)`. */
export interface JsonRange {
  readonly start: number
  readonly end: number
}

// These functions expect text that JSON.parse has accepted, and do not recurse. In a text that was cut off, an open string or
// container ends with the text.

/** Skips white space, commas and colons. Valid JSON has commas and colons only where they belong. */
export function skipSeparators(text: string, from: number): number {
  let at = from
  while (isSeparator(text.charCodeAt(at))) at++
  return at
}

// The codes up to the space include the four kinds of white space. Past the end of the text the code is NaN.
function isSeparator(code: number): boolean {
  return code <= SPACE || code === COLON || code === COMMA
}

/** Returns the end of the value that starts here. */
export function endOfValue(text: string, start: number): number {
  const code = text.charCodeAt(start)
  if (code === QUOTE) return endOfString(text, start)
  return isOpening(code) ? endOfContainer(text, start) : endOfScalar(text, start)
}

/** Returns the end of the string that starts here, after its closing quote. */
export function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (quote > 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote < 0 ? text.length : quote + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslash = at - 1
  while (text[backslash] === '\\') backslash--
  return (at - backslash) % 2 === 0
}

function endOfContainer(text: string, start: number): number {
  let depth = 0
  let at = start
  do {
    const code = text.charCodeAt(at)
    if (isOpening(code)) depth++
    else if (isClosing(code)) depth--
    at = code === QUOTE ? endOfString(text, at) : at + 1
  } while (depth > 0 && at < text.length)
  return at
}

/** Returns the end of the number or literal that starts here. */
export function endOfScalar(text: string, start: number): number {
  let at = start
  while (at < text.length && !isSeparator(text.charCodeAt(at)) && !isClosing(text.charCodeAt(at))) at++
  return at
}

function isOpening(code: number | undefined): boolean {
  return code === OPEN_OBJECT || code === OPEN_ARRAY
}

function isClosing(code: number | undefined): boolean {
  return code === CLOSE_OBJECT || code === CLOSE_ARRAY
}

// These functions return -1 for bytes that they cannot read. They look only at quotes and brackets, so bytes that are not
// JSON may pass.

export function hasTextAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return true
}

export function skipSpaces(bytes: Uint8Array, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at++
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 9 || byte === 10 || byte === 13
}

export function endOfValueBytes(bytes: Uint8Array, start: number, end: number): number {
  const byte = bytes[start]
  if (byte === QUOTE) return endOfStringBytes(bytes, start, end)
  if (isOpening(byte)) return endOfContainerBytes(bytes, start, end)
  let at = start
  while (at < end && bytes[at] !== COMMA && bytes[at] !== CLOSE_OBJECT && !isSpace(bytes[at])) at++
  return at > start ? at : -1
}

function endOfContainerBytes(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0
  let at = start
  while (at < end) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfStringBytes(bytes, at, end)
      if (at < 0) return -1
      continue
    }
    at++
    if (isOpening(byte)) depth++
    else if (isClosing(byte) && --depth === 0) return at
  }
  return -1
}

export function endOfStringBytes(bytes: Uint8Array, start: number, end: number): number {
  const near = Math.min(start + SHORT_STRING, end)
  for (let at = start + 1; at < near; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return endOfLongString(bytes, start, end)
}

const SHORT_STRING = 48 // A native search for the quote is faster only in longer strings.

function endOfLongString(bytes: Uint8Array, start: number, end: number): number {
  let quote = bytes.indexOf(QUOTE, start + 1)
  while (quote >= 0 && quote < end && isEscapedByte(bytes, quote)) quote = bytes.indexOf(QUOTE, quote + 1)
  return quote < 0 || quote >= end ? -1 : quote + 1
}

function isEscapedByte(bytes: Uint8Array, at: number): boolean {
  let backslash = at - 1
  while (bytes[backslash] === BACKSLASH) backslash--
  return (at - backslash) % 2 === 0
}

/** Returns the end of a string of at most 256 bytes without escapes and control characters. */
export function endOfPlainString(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + MAX_PLAIN_STRING)
  for (let at = start + 1; at < last; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) return at + 1
    if (byte < SPACE || byte === BACKSLASH) return -1
  }
  return -1
}

const MAX_PLAIN_STRING = 256

/** Returns the end of a whole number of at most 15 digits, which JavaScript represents exactly. */
export function endOfDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isDigit(bytes[at])) at++
  return at - start > MAX_EXACT_DIGITS || at === start || (bytes[start] === ZERO && at > start + 1) ? -1 : at
}

const MAX_EXACT_DIGITS = 15

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

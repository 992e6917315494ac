import { compressedFormOf } from './compressed.ts'
import { BASE64_VALUES as VALUES } from '../views.ts'

/** What a long word of a text contains, and where its content begins. */
export interface EncodedRun {
  readonly start: number
  readonly end: number
  readonly kind: 'hex' | 'text' | 'utf-16' | 'compressed'
}

/**
 * Finds the next long word that is text in hex, in base64 or in base64 of UTF-16, or compressed data in base64. Keywords in simple
 * base64 are found without this. Only the first bytes of a word decide, so hashes and images cost next to nothing.
 */
export function nextEncodedRun(bytes: Uint8Array, start: number, end: number): EncodedRun | undefined {
  let from = start
  for (let at = start; at + SHORTEST_RUN <= end;) {
    // Searched backwards, so that most bytes are never looked at.
    let last = at + SHORTEST_RUN - 1
    while (last >= at && IN_RUN[bytes[last]!] === 1) last--
    if (last >= at) {
      at = from = last + 1
      continue
    }
    let first = at
    while (first > from && IN_RUN[bytes[first - 1]!] === 1) first--
    const found = runAt(bytes, first, end)
    if (found !== undefined) return found
    at = from = endOfWord(bytes, at + SHORTEST_RUN, end) + 1
  }
  return undefined
}

function runAt(bytes: Uint8Array, start: number, end: number): EncodedRun | undefined {
  for (let skip = 0; skip <= MOST_SKIPPED; skip++)
    if (BEGINS_HEX_TEXT[bytes[start + skip]!] === 1 && isHexText(bytes, start + skip, end))
      return { start: start + skip, end: endOf(bytes, start + skip, end, HEX), kind: 'hex' }
  for (let skip = 0; skip < 4; skip++) {
    if (BEGINS_BASE64[bytes[start + skip]!] === 0) continue
    const kind = kindOfBase64(bytes, start + skip)
    if (kind !== undefined) return { start: start + skip, end: endOfLines(bytes, start + skip, end), kind }
  }
  return undefined
}

function isHexText(bytes: Uint8Array, start: number, end: number): boolean {
  if (start + LOOK_AHEAD > end) return false
  for (let at = start; at < start + LOOK_AHEAD; at += 2) {
    const high = HEX[bytes[at]!]!
    const low = HEX[bytes[at + 1]!]!
    if (high === 0 || low === 0 || !isText((high - 1) * 16 + low - 1)) return false
  }
  return true
}

/** Decodes the first groups, and stops at the first byte that rules out all kinds. */
function kindOfBase64(bytes: Uint8Array, start: number): EncodedRun['kind'] | undefined {
  let canBeText = true
  let canBeWide = true
  for (let group = 0; group < LOOK_AHEAD / 4; group++) {
    const at = start + 4 * group
    const bits =
      (VALUES[bytes[at]!]! << 18) |
      (VALUES[bytes[at + 1]!]! << 12) |
      (VALUES[bytes[at + 2]!]! << 6) |
      VALUES[bytes[at + 3]!]!
    const first = bits >> 16
    const second = (bits >> 8) & 255
    const third = bits & 255
    if (group === 0 && compressedFormOf(first, second, third) !== undefined) return 'compressed'
    canBeText &&= isText(first) && isText(second) && isText(third)
    // The bytes of two groups are three characters of UTF-16.
    canBeWide &&=
      group % 2 === 0
        ? isText(first) && second === 0 && isText(third)
        : first === 0 && isText(second) && third === 0
    if (!canBeText && !canBeWide) return undefined
  }
  return canBeText ? 'text' : 'utf-16'
}

function isText(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function endOf(bytes: Uint8Array, start: number, end: number, members: Uint8Array): number {
  let at = start
  while (at < end && members[bytes[at]!]! > 0) at++
  return at
}

/** Where base64 ends that may continue on the next lines, as in mail. A keyword can be in two of the lines. */
function endOfLines(bytes: Uint8Array, start: number, end: number): number {
  let lineEnd = endOf(bytes, start, end, IN_RUN)
  for (let from = start; lineEnd - from >= SHORTEST_LINE;) {
    from = lineEnd + lineBreakAt(bytes, lineEnd)
    if (from === lineEnd || IN_RUN[bytes[from] ?? 0] !== 1 || from >= end) break
    lineEnd = endOf(bytes, from, end, IN_RUN)
  }
  return lineEnd
}

/** Length of the line break at an index, which may be escaped, as in JSON; 0 if there is none. */
export function lineBreakAt(bytes: Uint8Array, start: number): number {
  let at = start
  for (const [raw, letter] of LINE_BREAKS) {
    let next = at
    while (bytes[next] === BACKSLASH) next++
    if (bytes[next] === (next > at ? letter : raw)) at = next + 1
  }
  return at - start
}

/** Where a word that is of no interest ends. It can be as long as an image, so this uses the search of the engine. */
function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  const near = Math.min(end, start + NEAR)
  const next = endOf(bytes, start, near, IN_RUN)
  if (next < near || near === end) return next
  let found = end
  for (const sign of WORD_ENDS) {
    const at = bytes.subarray(start, found).indexOf(sign)
    if (at >= 0) found = start + at
  }
  return found
}

/** A secret of 14 characters in hex, or of 21 in base64. */
const SHORTEST_RUN = 28
const LOOK_AHEAD = 24
/** Shorter words, such as hashes, are read byte by byte. */
const NEAR = 128
/** Characters before the hex that belong to the same word, such as `0x`. */
const MOST_SKIPPED = 8
/** Quotes, spaces, line breaks and escapes. */
const WORD_ENDS = [0x22, 0x5c, 0x20, 0x0a]
/** The lines of mail and of keys have 64 or 76 characters. */
const SHORTEST_LINE = 40
const BACKSLASH = 0x5c
/** A carriage return and a line feed, and the letters of their escapes. */
const LINE_BREAKS = [
  [0x0d, 0x72],
  [0x0a, 0x6e],
] as const
const IN_RUN = new Uint8Array(256)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')
  IN_RUN[char.charCodeAt(0)] = 1
/** The value of each hex digit plus one. */
const HEX = new Uint8Array(256)
for (let value = 0; value < 16; value++)
  for (const digit of [value.toString(16), value.toString(16).toUpperCase()])
    HEX[digit.charCodeAt(0)] = value + 1
/** The first digit of a character in hex, and the first character of a text or of compressed data in base64. Most words begin otherwise. */
const BEGINS_HEX_TEXT = new Uint8Array(256)
for (const digit of '0234567') BEGINS_HEX_TEXT[digit.charCodeAt(0)] = 1
const BEGINS_BASE64 = new Uint8Array(256)
for (const char of 'CDHIJKLMNOPQRSTUVWXYZabcdef') BEGINS_BASE64[char.charCodeAt(0)] = 1

import type { ByteTest } from './prefilter/byte-tests.ts'

/** How a pattern is meant that bytes must hold before they are worth a close look. */
export interface PatternKind {
  /** Upper and lower case are the same. */
  readonly isAnyCase: boolean
  /** What must come right behind it. */
  readonly followedBy?: ByteTest | undefined
  /** What must not stand right before it. */
  readonly notPrecededBy?: ByteTest | undefined
}

/** A pattern, as the gate keeps it. */
export interface PatternEntry {
  readonly kind: PatternKind
  /** A character for each byte. */
  readonly bytes: string
  /** Where in it the bytes stand by which it is found. */
  readonly offset: number
  /** The next entry of the same hash, counted from one. */
  readonly next: number
}

/** The text within which patterns may stand. */
export interface ScanRange {
  readonly start: number
  readonly end: number
}

/** Whether the pattern stands around the bytes at this place by which it is found. */
export function entryMatchesAt(
  entry: PatternEntry,
  bytes: Uint8Array,
  at: number,
  { start, end }: ScanRange,
): boolean {
  const { bytes: wanted, offset, kind } = entry
  const begin = at - offset
  const behind = begin + wanted.length
  if (begin < start || behind > end) return false
  for (let index = 0; index < wanted.length; index++)
    if (!isSameByte(bytes[begin + index]!, wanted.charCodeAt(index), kind.isAnyCase)) return false
  const { followedBy, notPrecededBy } = kind
  if (notPrecededBy?.(bytes, begin, end) === true) return false
  return followedBy === undefined || followedBy(bytes, behind, end)
}

function isSameByte(byte: number, wanted: number, isAnyCase: boolean): boolean {
  return byte === wanted || (isAnyCase && (byte | CASE) === (wanted | CASE))
}

const CASE = 0x20
/** So much of a pattern is compared; the close look compares the rest. */
export const COMPARED_BYTES = 32

/** The bytes of a text as a character each. */
export function toByteString(text: string): string {
  return NOT_ASCII.test(text) ? String.fromCharCode(...encoder.encode(text.slice(0, COMPARED_BYTES))) : text
}

const encoder = new TextEncoder()
const NOT_ASCII = /[^\0-\x7f]/

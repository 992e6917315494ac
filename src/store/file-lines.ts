import type { FileHandle } from 'node:fs/promises'

const CHUNK_BYTES = 4 * 1024 * 1024
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

export interface FileLine {
  /** Written over once the line was looked at. */
  readonly bytes: Buffer
  readonly start: number
  /** Without the line's end. */
  readonly end: number
  /** Where the line begins in the file. */
  readonly at: number
  /** Counted from 1; empty lines count, but are left out. */
  readonly number: number
}

export interface FileLineHandlers {
  /** Before the lines of a stretch: its bytes, from the beginning of a line to the end of one. */
  readonly onChunk: (bytes: Uint8Array) => void
  readonly onLine: (line: FileLine) => void
  /** What stands after the last line feed. */
  readonly onTruncated: (line: FileLine) => void
  readonly maxBytes: number
}

/**
 * Reads a file line by line through two buffers, so that a gigabyte needs no more memory than its longest line: while the lines
 * of one are looked at, the other is filled. False when a line is longer than `longest`.
 */
export async function readFileLines(file: FileHandle, reading: FileLineHandlers): Promise<boolean> {
  let bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let other = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let filled = 0
  let at = 0
  let number = 1
  let pending = file.read(bytes, 0, bytes.length, 0)
  for (;;) {
    const { bytesRead } = await pending
    if (bytesRead === 0) break
    filled += bytesRead
    const whole = bytes.lastIndexOf(LINE_FEED, filled - 1) + 1
    const rest = filled - whole
    if (rest > reading.maxBytes) return false
    if (rest >= other.length) other = Buffer.allocUnsafeSlow(rest * 2)
    bytes.copy(other, 0, whole, filled)
    pending = file.read(other, rest, other.length - rest, at + filled)
    if (whole > 0) reading.onChunk(bytes.subarray(0, whole))
    number = eachLine(bytes, whole, { at, number, onLine: reading.onLine })
    ;[bytes, other] = [other, bytes]
    at += whole
    filled = rest
  }
  if (filled > 0) reading.onTruncated({ bytes, start: 0, end: lineEndOf(bytes, 0, filled), at, number })
  return true
}

function eachLine(
  bytes: Buffer,
  end: number,
  { at, number: first, onLine }: { at: number; number: number; onLine: FileLineHandlers['onLine'] },
): number {
  let number = first
  for (let start = 0; start < end; number++) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const lineEnd = lineEndOf(bytes, start, feed)
    if (lineEnd > start) onLine({ bytes, start, end: lineEnd, at: at + start, number })
    start = feed + 1
  }
  return number
}

function lineEndOf(bytes: Buffer, start: number, end: number): number {
  return end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end
}

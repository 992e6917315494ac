import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

const CHUNK_BYTES = 4 * 1024 * 1024
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** A line, as a range of a buffer that is overwritten after the call. */
export interface FileLine {
  readonly bytes: Buffer
  readonly start: number
  /** Excludes the line ending. */
  readonly end: number
  /** Offset of the line in the file. */
  readonly at: number
  /** Counted from 1. Empty lines are counted, but not reported. */
  readonly number: number
}

export interface FileLineHandlers {
  /** Called with some whole lines, before `onLine` is called for each of them. */
  readonly onChunk: (bytes: Uint8Array) => void
  readonly onLine: (line: FileLine) => void
  /** Called for the text after the last line feed, if there is any. */
  readonly onTruncated: (line: FileLine) => void
  readonly maxBytes: number
}

/**
 * Reads a file line by line. One buffer is filled while the lines of another are handled, so that a large file needs no more
 * memory than its longest line. Returns false, without reading on, if a line is longer than `maxBytes`.
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

/** Like `readFileLines`, for the first `length` bytes of a file, and for callers that cannot wait. */
export function readFileLinesSync(fd: number, length: number, reading: FileLineHandlers): boolean {
  let bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let filled = 0
  let at = 0
  let number = 1
  for (;;) {
    if (filled === bytes.length) bytes = Buffer.concat([bytes], filled * 2)
    const wanted = Math.min(bytes.length - filled, length - at - filled)
    const read = wanted > 0 ? readSync(fd, bytes, filled, wanted, at + filled) : 0
    if (read === 0) break
    filled += read
    const whole = bytes.lastIndexOf(LINE_FEED, filled - 1) + 1
    if (filled - whole > reading.maxBytes) return false
    if (whole > 0) reading.onChunk(bytes.subarray(0, whole))
    number = eachLine(bytes, whole, { at, number, onLine: reading.onLine })
    bytes.copyWithin(0, whole, filled)
    at += whole
    filled -= whole
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

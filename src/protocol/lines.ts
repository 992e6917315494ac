/** The longest line that is kept in memory, unless the user sets another bound. */
export const DEFAULT_MAX_LINE_BYTES: number = 256 * 1024 * 1024
/** The largest bound that can be set: strings in JavaScript hold at most 512 MiB. */
export const HARD_MAX_LINE_BYTES: number = 500 * 1024 * 1024

/** How much is kept of a line beyond the bound, to describe it. */
const HEAD_BYTES = 64 * 1024

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const NO_BYTES = new Uint8Array(0)
const NO_PARTS: readonly Uint8Array[] = []

/** A line without its line end. Its bytes are not copied: they are in `parts`, and in a range of the chunk that ended the line. */
export interface Line {
  /** Counts from 1. Empty lines are counted, but not returned. */
  readonly number: number
  /** The beginning of a line that was cut by the ends of chunks. */
  readonly parts: readonly Uint8Array[]
  readonly chunk: Uint8Array
  readonly start: number
  readonly end: number
  /** The length of the line in bytes. */
  readonly length: number
  /** The line is longer than the bound, and only its first 64 KiB are kept. */
  readonly isOverlong: boolean
}

/**
 * Splits bytes into lines at LF or CRLF, independent of how the chunks are cut. It keeps chunks until their line is complete,
 * so a chunk must not be written to again.
 */
export class LineSplitter {
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #pendingBytes = 0
  #isOverlong = false
  #endsInReturn = false
  #number = 0

  constructor({ maxBytes = DEFAULT_MAX_LINE_BYTES }: { readonly maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes
  }

  /** The length of the line that is not complete yet. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Returns the lines that this chunk completes. */
  split(chunk: Uint8Array): readonly Line[] {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#finish(chunk, start, end, lines)
      start = end + 1
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start))
    return lines
  }

  /** Returns what follows the last line feed. */
  end(): readonly Line[] {
    const lines: Line[] = []
    if (this.#pendingBytes > 0) this.#finish(NO_BYTES, 0, 0, lines)
    return lines
  }

  /** Forgets the beginning of a line that is not complete yet. */
  forgetLine(): void {
    this.#parts = []
    this.#pendingBytes = 0
    this.#isOverlong = this.#endsInReturn = false
  }

  #keep(part: Uint8Array): void {
    this.#pendingBytes += part.length
    this.#endsInReturn = part.at(-1) === CARRIAGE_RETURN
    if (this.#isOverlong) return
    this.#parts.push(part)
    // One more than the bound: the last byte may be a carriage return.
    if (this.#pendingBytes <= Math.max(this.#maxBytes + 1, HEAD_BYTES)) return
    this.#isOverlong = true
    this.#parts = [copyHead(this.#parts)]
  }

  #finish(chunk: Uint8Array, start: number, feed: number, lines: Line[]): void {
    const number = ++this.#number
    const end = feed > start && chunk[feed - 1] === CARRIAGE_RETURN ? feed - 1 : feed
    if (feed === start) this.#dropCarriageReturn()
    const length = this.#pendingBytes + end - start
    const parts = this.#pendingBytes > 0 ? this.#parts : NO_PARTS
    if (length > this.#maxBytes) {
      const head = this.#isOverlong ? parts : [copyHead([...parts, chunk.subarray(start, end)])]
      lines.push({ number, parts: head, chunk: NO_BYTES, start: 0, end: 0, length, isOverlong: true })
    } else if (length > 0) lines.push({ number, parts, chunk, start, end, length, isOverlong: false })
    if (this.#parts.length > 0) this.#parts = []
    this.#pendingBytes = 0
    this.#isOverlong = this.#endsInReturn = false
  }

  /** Handles chunks that were cut between the two bytes of a CRLF. */
  #dropCarriageReturn(): void {
    const last = this.#parts.pop()
    if (last === undefined) return
    this.#parts.push(this.#endsInReturn && !this.#isOverlong ? last.subarray(0, -1) : last)
    if (this.#endsInReturn) this.#pendingBytes--
  }
}

/** The bytes of a line, which are copied only if it was cut. */
export function lineBytes({ parts, chunk, start, end }: Omit<Line, 'number'>): Uint8Array {
  if (parts.length === 0) return chunk.subarray(start, end)
  return concatBytes(start === end ? parts : [...parts, chunk.subarray(start, end)])
}

/** Decodes UTF-8, and keeps a byte order mark. Returns `undefined` if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// A copy, so that the head of a line does not keep its chunks in memory.
function copyHead(parts: readonly Uint8Array[]): Uint8Array {
  const head: Uint8Array[] = []
  let room = HEAD_BYTES
  for (const part of parts) {
    head.push(part.slice(0, room))
    room -= Math.min(room, part.length)
  }
  return concatBytes(head)
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** The longest line that is held in memory, unless the user chose another bound. */
export const DEFAULT_MAX_LINE_BYTES: number = 256 * 1024 * 1024
/** The longest line that can be asked for and still be read: a text in JavaScript ends at 512 MiB. */
export const HARD_MAX_LINE_BYTES: number = 500 * 1024 * 1024

/** How much of a line beyond the bound is kept, to name it. */
const HEAD_BYTES = 64 * 1024

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

interface LineSplitterOptions {
  readonly maxBytes?: number
  /** A line without its end; `number` counts from 1 and counts empty lines too, which are not delivered. */
  readonly onLine: (line: Uint8Array, number: number) => void
  /** A line beyond `maxBytes`: its beginning and its real length. */
  readonly onOverlong?: (head: Uint8Array, total: number, number: number) => void
}

/**
 * Cuts bytes into lines at LF or CRLF, however the chunks are cut. It keeps chunks until their line is complete, so a
 * chunk must not be written to again.
 */
export class LineSplitter {
  readonly #options: LineSplitterOptions
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #head: Uint8Array | undefined
  #total = 0
  #number = 1
  #endsInReturn = false

  constructor(options: LineSplitterOptions) {
    this.#options = options
    this.#maxBytes = options.maxBytes ?? DEFAULT_MAX_LINE_BYTES
  }

  push(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      if (this.#total === 0) this.#deliverWithin(chunk, start, end)
      else {
        this.#keep(chunk.subarray(start, end))
        this.#deliver()
      }
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  /** Delivers what stands after the last line feed. */
  end(): void {
    this.#deliver()
  }

  // Most lines stand in one chunk.
  #deliverWithin(chunk: Uint8Array, start: number, feed: number): void {
    const number = this.#number++
    const end = feed > start && chunk[feed - 1] === CARRIAGE_RETURN ? feed - 1 : feed
    const length = end - start
    if (length === 0) return
    const line = chunk.subarray(start, end)
    if (length <= this.#maxBytes) this.#options.onLine(line, number)
    else this.#options.onOverlong?.(copyHead([line]), length, number)
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return
    this.#total += part.length
    this.#endsInReturn = part.at(-1) === CARRIAGE_RETURN
    if (this.#head !== undefined) return
    this.#parts.push(part)
    // One more than the bound: it may turn out to be the carriage return.
    if (this.#total <= Math.max(this.#maxBytes + 1, HEAD_BYTES)) return
    this.#head = copyHead(this.#parts)
    this.#parts = []
  }

  #deliver(): void {
    const length = this.#endsInReturn ? this.#total - 1 : this.#total
    const [parts, head, number] = [this.#parts, this.#head, this.#number++]
    this.#parts = []
    this.#head = undefined
    this.#total = 0
    this.#endsInReturn = false
    if (length === 0) return
    if (length <= this.#maxBytes) this.#options.onLine(concatBytes(parts).subarray(0, length), number)
    else this.#options.onOverlong?.((head ?? copyHead(parts)).subarray(0, length), length, number)
  }
}

/** The text of bytes, a byte order mark included; undefined when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined // what to do with such bytes is for the caller to say
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// Copied, so that the head of a line does not hold all of its chunks in memory.
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

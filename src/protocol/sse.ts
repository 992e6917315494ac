/** One event of a stream, with only the fields that it had. Events without data are kept, because a replay needs them. */
export interface SseEvent {
  readonly id?: string
  readonly event?: string
  readonly retry?: number
  /** The data lines, joined by line feeds. */
  readonly data?: BoundedBytes
}

interface SseReaderOptions {
  /** Only the beginning of longer data is kept. */
  readonly maxBytes: number
  readonly onEvent: (event: SseEvent) => void
  readonly onComment: (text: string) => void
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const COLON = 58
const SPACE = 32
const MAX_FIELD_PREFIX = 'event: '.length
const NEWLINE: Uint8Array = Uint8Array.of(LINE_FEED)
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/**
 * Reads server-sent events from bytes, independent of how the chunks are cut. Data is neither decoded nor copied, because
 * messages can be many megabytes long.
 */
export class SseReader {
  readonly #options: SseReaderOptions
  #line: BoundedBytes
  #event: { -readonly [Key in keyof SseEvent]: SseEvent[Key] } = {}
  #endedInReturn = false
  #isFirstLine = true

  constructor(options: SseReaderOptions) {
    this.#options = options
    this.#line = new BoundedBytes(options.maxBytes)
  }

  push(chunk: Uint8Array): void {
    const whole = this.#isAtStart() ? this.#wholeEvent(chunk) : undefined
    if (whole === undefined) return this.#pushLines(chunk)
    this.#isFirstLine = false
    this.#options.onEvent(whole)
  }

  /** Whether nothing of an event has arrived. */
  #isAtStart(): boolean {
    return this.#line.length === 0 && !this.#endedInReturn && isEmpty(this.#event)
  }

  /** Reads the event of most chunks at once: a message on one line. Returns undefined for every other chunk. */
  #wholeEvent(chunk: Uint8Array): SseEvent | undefined {
    const end = chunk.length - 2
    if (end < 0 || chunk[end] !== LINE_FEED || chunk[end + 1] !== LINE_FEED) return undefined
    const isNamed = startsWith(chunk, 0, MESSAGE_LINE)
    const start = isNamed ? MESSAGE_LINE.length : 0
    if (!startsWith(chunk, start, DATA_FIELD)) return undefined
    if (chunk.indexOf(LINE_FEED, start) !== end || chunk.includes(CARRIAGE_RETURN)) return undefined
    const data = new BoundedBytes(this.#options.maxBytes)
    data.add(chunk.subarray(start + DATA_FIELD.length, end))
    return isNamed ? { event: 'message', data } : { data }
  }

  #pushLines(chunk: Uint8Array): void {
    let start = this.#endedInReturn && chunk[0] === LINE_FEED ? 1 : 0
    if (chunk.length > 0) this.#endedInReturn = false
    for (let end = endOfLine(chunk, start); end >= 0; end = endOfLine(chunk, start)) {
      this.#keep(chunk.subarray(start, end))
      this.#finishLine()
      start = end + 1
      if (chunk[end] !== CARRIAGE_RETURN) continue
      if (start === chunk.length) this.#endedInReturn = true
      else if (chunk[start] === LINE_FEED) start++
    }
    this.#keep(chunk.subarray(start))
  }

  /** Ends the stream. Returns the bytes of an event that was not completed by a blank line. */
  end(): BoundedBytes {
    const rest = new BoundedBytes(this.#options.maxBytes)
    if (this.#event.data !== undefined) rest.addAll(this.#event.data)
    if (rest.length > 0 && this.#line.length > 0) rest.add(NEWLINE)
    rest.addAll(this.#line)
    return rest
  }

  // A chunk may end within the name of a field, so short beginnings are joined with the next part.
  #keep(part: Uint8Array): void {
    const [first] = this.#line.parts
    if (part.length === 0) return
    if (first === undefined || this.#line.length >= MAX_FIELD_PREFIX) return this.#line.add(part)
    this.#line = new BoundedBytes(this.#options.maxBytes)
    this.#line.add(concatTwo(first, part))
  }

  #finishLine(): void {
    const line = this.#line
    if (line.length === 0) this.#dispatch()
    else this.#field(line)
    this.#line = new BoundedBytes(this.#options.maxBytes)
    this.#isFirstLine = false
  }

  #dispatch(): void {
    const event = this.#event
    if (isEmpty(event)) return
    this.#event = {}
    this.#options.onEvent(event)
  }

  #field(line: BoundedBytes): void {
    const [whole = NEWLINE] = line.parts
    const first = this.#isFirstLine ? withoutByteOrderMark(whole) : whole
    const colon = first.indexOf(COLON)
    const name = fieldName(colon < 0 ? first : first.subarray(0, colon))
    const start = colon < 0 ? first.length : colon + (first[colon + 1] === SPACE ? 2 : 1)
    const value = new BoundedBytes(this.#options.maxBytes)
    if (line.isComplete) for (const part of [first.subarray(start), ...line.parts.slice(1)]) value.add(part)
    else value.addAll(line)
    this.#set(name, value)
  }

  #set(name: string, value: BoundedBytes): void {
    if (name === 'data') return this.#addData(value)
    const text = decodeParts(value.parts)
    if (name === '') this.#options.onComment(text)
    else if (name === 'event') this.#event.event = text
    else if (name === 'id' && !text.includes('\0')) this.#event.id = text
    else if (name === 'retry' && /^\d+$/.test(text)) this.#event.retry = Number(text)
  }

  #addData(value: BoundedBytes): void {
    if (this.#event.data === undefined) this.#event.data = new BoundedBytes(this.#options.maxBytes)
    else this.#event.data.add(NEWLINE)
    this.#event.data.addAll(value)
  }
}

const MESSAGE_LINE: Uint8Array = new TextEncoder().encode('event: message\n')
const DATA_FIELD: Uint8Array = new TextEncoder().encode('data: ')

function startsWith(chunk: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (chunk[start + at] !== text[at]) return false
  return true
}

function isEmpty({ id, event, retry, data }: SseEvent): boolean {
  return id === undefined && event === undefined && retry === undefined && data === undefined
}

/** Lines end with a line feed, a carriage return, or both. */
function endOfLine(chunk: Uint8Array, start: number): number {
  const feed = chunk.indexOf(LINE_FEED, start)
  const line = feed < 0 ? chunk.subarray(start) : chunk.subarray(start, feed)
  const back = line.indexOf(CARRIAGE_RETURN)
  return back < 0 ? feed : start + back
}

function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? bytes.subarray(3) : bytes
}

/** Returns an unknown name for all that are too long to be known. */
function fieldName(bytes: Uint8Array): string {
  return bytes.length > LONGEST_NAME ? 'unknown' : String.fromCharCode(...bytes)
}

const LONGEST_NAME = 'event'.length

function decodeParts(parts: readonly Uint8Array[]): string {
  const [whole, ...more] = parts
  if (whole !== undefined && more.length === 0) return utf8.decode(whole)
  const decoder = new TextDecoder() // creating one takes longer than decoding an event
  return parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode()
}

const utf8 = new TextDecoder()

function concatTwo(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** Bytes in the parts in which they arrived. Beyond a bound only the first part is kept, and the length is counted. */
export class BoundedBytes {
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get parts(): readonly Uint8Array[] {
    return this.#parts
  }

  /** The number of bytes that arrived, whether or not they were kept. */
  get length(): number {
    return this.#length
  }

  get isComplete(): boolean {
    return this.#length <= this.#maxBytes
  }

  add(part: Uint8Array): void {
    if (part.length === 0) return
    this.#length += part.length
    if (this.isComplete) this.#parts.push(part)
    else this.#parts = [this.#parts[0] ?? part]
  }

  addAll({ parts, length }: BoundedBytes): void {
    for (const part of parts) this.add(part)
    this.#length += length - parts.reduce((sum, part) => sum + part.length, 0)
  }
}

import { findHeader, MAX_HEADERS, type RawHeaders } from '../headers.ts'

interface HttpResponseWatcher {
  readonly onHead: (head: HttpResponseHead) => void
  readonly onBody: (bytes: Buffer) => void
  readonly onEnd: () => void
}

/** Reads a chunk from `start` on. Returns where it stopped, which is before the end only if the state changed. */
type Step = (chunk: Buffer, start: number) => number

const BLANK_LINE = '\r\n\r\n'
const LONGEST_LINE = 16 * 1024

/** Parses one HTTP/1.1 response after the other from the chunks of a socket. Bodies are not copied. Throws if the bytes are invalid. */
export class ResponseReader {
  readonly #watcher: HttpResponseWatcher
  readonly #maxHeadBytes: number
  #step: Step
  #isHead = false
  #isOver = true
  #held = ''
  #left = 0
  #trailers = 0

  constructor(watcher: HttpResponseWatcher, maxHeadBytes: number) {
    this.#watcher = watcher
    this.#maxHeadBytes = maxHeadBytes
    this.#step = this.#head
  }

  /** Has to be called before each response, with the method of its request. */
  begin(method: string): void {
    this.#isHead = method === 'HEAD'
    this.#isOver = false
    this.#trailers = 0
    this.#step = this.#head
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#isOver) throw new Error('the server sent more bytes than its response')
      at = this.#step(chunk, at)
    }
  }

  /** The server has closed its side. Returns true if that ends the body. */
  end(): boolean {
    if (this.#step !== this.#untilClose) return false
    this.#finish()
    return true
  }

  readonly #head: Step = (chunk, start) => {
    const end = endOfHead(this.#held, chunk, start)
    const text = this.#held + chunk.toString('latin1', start, end)
    if (text.length > this.#maxHeadBytes)
      throw new Error(`the head of the response is longer than ${this.#maxHeadBytes} bytes`)
    this.#held = end === undefined ? text : ''
    if (end === undefined) return chunk.length
    this.#startBody(parseResponseHead(text.slice(0, -BLANK_LINE.length), this.#isHead))
    return end
  }

  #startBody(head: HttpResponseHead): void {
    if (head.status === 101)
      throw new Error('the server switched to another protocol, which was not requested')
    if (head.status < 200 && head.status >= 100) return // an interim response, which the final one follows
    const { body } = head
    this.#watcher.onHead(head)
    if (body.kind === 'length') this.#left = body.bytes
    if (body.kind === 'none' || (body.kind === 'length' && body.bytes === 0)) this.#finish()
    else
      this.#step = { length: this.#counted, chunked: this.#size, 'until close': this.#untilClose }[body.kind]
  }

  readonly #counted: Step = (chunk, start) => {
    const end = this.#bodyPart(chunk, start)
    if (this.#left === 0) this.#finish()
    return end
  }

  readonly #untilClose: Step = (chunk, start) => {
    this.#watcher.onBody(start === 0 ? chunk : chunk.subarray(start))
    return chunk.length
  }

  readonly #size: Step = (chunk, start) => {
    const end = this.#held === '' ? endOfHexDigits(chunk, start) : start
    if (end > start && chunk[end] === CARRIAGE_RETURN && chunk[end + 1] === LINE_FEED) {
      this.#startChunk(hexNumber(chunk, start, end))
      return end + 2
    }
    return this.#line(chunk, start, (line) => {
      const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? []
      if (digits === undefined) throw new Error(`invalid chunk size: ${JSON.stringify(line.slice(0, 80))}`)
      this.#startChunk(Number.parseInt(digits, 16))
    })
  }

  #startChunk(size: number): void {
    this.#left = size
    this.#step = size === 0 ? this.#trailer : this.#chunk
  }

  readonly #chunk: Step = (chunk, start) => {
    const end = this.#bodyPart(chunk, start)
    if (this.#left === 0) this.#step = this.#afterChunk
    return end
  }

  readonly #afterChunk: Step = (chunk, start) => {
    if (this.#held === '' && chunk[start] === CARRIAGE_RETURN && chunk[start + 1] === LINE_FEED) {
      this.#step = this.#size
      return start + 2
    }
    return this.#line(chunk, start, (line) => {
      if (line !== '') throw new Error('a chunk is longer than its announced size')
      this.#step = this.#size
    })
  }

  /** Trailers are skipped, because they belong to this connection. */
  readonly #trailer: Step = (chunk, start) =>
    this.#line(chunk, start, (line) => {
      if (line === '') return this.#finish()
      if (++this.#trailers > MAX_HEADERS)
        throw new Error(`the response has more than ${MAX_HEADERS} trailers`)
    })

  #bodyPart(chunk: Buffer, start: number): number {
    const end = Math.min(chunk.length, start + this.#left)
    this.#left -= end - start
    this.#watcher.onBody(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end))
    return end
  }

  #line(chunk: Buffer, start: number, take: (line: string) => void): number {
    const feed = chunk.indexOf(LINE_FEED, start)
    const end = feed < 0 ? chunk.length : feed + 1
    this.#held += chunk.toString('latin1', start, end)
    if (this.#held.length > LONGEST_LINE) throw new Error('a line between chunks is too long')
    if (feed < 0) return end
    const line = this.#held
    this.#held = ''
    if (!line.endsWith('\r\n')) throw new Error('a line between chunks does not end with CRLF')
    take(line.slice(0, -2))
    return end
  }

  #finish(): void {
    this.#isOver = true
    this.#step = this.#head
    this.#watcher.onEnd()
  }
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
/** Chunks of more than 256 MiB are rare. */
const MOST_FAST_DIGITS = 7

/** The value of each hexadecimal digit; 255 for every other byte. */
const HEX_VALUES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase())
  return digit < 0 ? 255 : digit
})

function endOfHexDigits(chunk: Buffer, start: number): number {
  const last = Math.min(chunk.length, start + MOST_FAST_DIGITS)
  let at = start
  while (at < last && HEX_VALUES[chunk[at]!]! < 16) at++
  return at
}

function hexNumber(chunk: Buffer, start: number, end: number): number {
  let number = 0
  for (let at = start; at < end; at++) number = number * 16 + HEX_VALUES[chunk[at]!]!
  return number
}

/** Returns where the head ends, or undefined if its end has not arrived. The blank line may be split between chunks. */
function endOfHead(held: string, chunk: Buffer, start: number): number | undefined {
  const tail = held.slice(-BLANK_LINE.length + 1)
  const across = tail + chunk.toString('latin1', start, start + BLANK_LINE.length - 1)
  const cut = across.indexOf(BLANK_LINE)
  if (cut >= 0) return start + cut - tail.length + BLANK_LINE.length
  const at = chunk.indexOf(BLANK_LINE, start, 'latin1')
  return at < 0 ? undefined : at + BLANK_LINE.length
}

/** The status line and headers of a response. */
export interface HttpResponseHead {
  readonly status: number
  readonly reason: string
  readonly headers: RawHeaders
  /** How the body is framed (RFC 9112, 6.3). */
  readonly body: { readonly kind: 'none' | 'chunked' | 'until close' } | BodyOfLength
  /** Whether the connection can carry another request afterwards. */
  readonly isKept: boolean
}

interface BodyOfLength {
  readonly kind: 'length'
  readonly bytes: number
}

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
// Heads are parsed strictly: if two parsers disagreed about a head, one of them could be made to see another response.
const FORBIDDEN = /[^\t\r\n\x20-\x7e\x80-\xff]/

/** Parses a head without its blank line. Throws if it is invalid. Results are cached, because servers send the same head many times a second. */
function parseResponseHead(text: string, isHead: boolean): HttpResponseHead {
  if (isHead) return parseUncachedHead(text, isHead)
  const known = parsedHeads.get(text)
  if (known !== undefined) return known
  const head = parseUncachedHead(text, isHead)
  if (parsedHeads.size >= MAX_PARSED_HEADS) parsedHeads.clear()
  if (text.length <= MAX_CACHED_LENGTH) parsedHeads.set(text, head)
  return head
}

const parsedHeads = new Map<string, HttpResponseHead>()
const MAX_PARSED_HEADS = 64
const MAX_CACHED_LENGTH = 4096

function parseUncachedHead(text: string, isHead: boolean): HttpResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, code, reason = ''] = STATUS_LINE.exec(first) ?? []
  if (code === undefined) throw new Error(`not an HTTP response: ${JSON.stringify(first.slice(0, 80))}`)
  if (FORBIDDEN.test(text)) throw new Error('the head of the response contains an invalid character')
  if (lines.length > MAX_HEADERS) throw new Error(`the response has more than ${MAX_HEADERS} headers`)
  const headers = parseHeaderLines(lines)
  const status = Number(code)
  const framing = bodyFraming(headers, minor === '1')
  const body = isHead || status < 200 || status === 204 || status === 304 ? NO_BODY : framing
  return {
    status,
    reason,
    headers,
    body,
    isKept: body.kind !== 'until close' && isConnectionKept(minor === '1', headers),
  }
}

const NO_BODY = { kind: 'none' } as const

function parseHeaderLines(lines: readonly string[]): RawHeaders {
  const headers: string[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    if (!TOKEN.test(name) || LINE_BREAK.test(line))
      throw new Error(`invalid header line: ${JSON.stringify(line.slice(0, 80))}`)
    headers.push(name, trimmed(line, colon + 1))
  }
  return headers
}

const LINE_BREAK = /[\r\n]/

/** String.trim is not used, because it would remove the last byte of an à, which looks like a no-break space. */
function trimmed(line: string, start: number): string {
  let [from, to] = [start, line.length]
  while (from < to && isBlank(line.charCodeAt(from))) from++
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--
  return line.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

const SPACE = 32
const TAB = 9

/** Throws if other readers could find another end of the body. */
function bodyFraming(headers: RawHeaders, isLatest: boolean): HttpResponseHead['body'] {
  const codings = valuesOf(headers, 'transfer-encoding')
  const lengths = new Set(valuesOf(headers, 'content-length'))
  if (codings.length > 0) {
    if (lengths.size > 0) throw new Error('the response has both Transfer-Encoding and Content-Length')
    if (!isLatest) throw new Error('the response has both Transfer-Encoding and HTTP/1.0')
    if (codings.length > 1 || codings[0]?.toLowerCase() !== 'chunked')
      throw new Error(`the transfer coding ${JSON.stringify(codings.join(', '))} is not supported`)
    return { kind: 'chunked' }
  }
  if (lengths.size === 0) return { kind: 'until close' }
  const [length = ''] = lengths
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length))
    throw new Error('the response has an invalid Content-Length')
  return { kind: 'length', bytes: Number(length) }
}

function valuesOf(headers: RawHeaders, name: string): string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]!.toLowerCase() === name)
}

function isConnectionKept(isLatest: boolean, headers: RawHeaders): boolean {
  const options = findHeader(headers, 'connection')?.toLowerCase() ?? ''
  return isLatest ? !/\bclose\b/.test(options) : /\bkeep-alive\b/.test(options)
}

import { findHeader, type RawHeaders } from '../headers.ts'

interface HttpResponseWatcher {
  readonly onHead: (head: HttpResponseHead) => void
  readonly onBody: (bytes: Buffer) => void
  readonly onEnd: () => void
}

/** Takes the bytes of a piece of the answer from `start` on; returns where it stopped, which is before the end only when the state changed. */
type Step = (chunk: Buffer, start: number) => number

const BLANK_LINE = '\r\n\r\n'
const LONGEST_LINE = 16 * 1024

/** Reads one answer after the other from the bytes of a socket, however they are cut. Bodies are not copied. Throws on what is no HTTP/1.1. */
export class ResponseReader {
  readonly #watcher: HttpResponseWatcher
  readonly #maxHeadBytes: number
  #step: Step
  #isHead = false
  #isOver = true
  #held = ''
  #left = 0

  constructor(watcher: HttpResponseWatcher, maxHeadBytes: number) {
    this.#watcher = watcher
    this.#maxHeadBytes = maxHeadBytes
    this.#step = this.#head
  }

  /** The next answer is to this request. */
  begin(method: string): void {
    this.#isHead = method === 'HEAD'
    this.#isOver = false
    this.#step = this.#head
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#isOver) throw new Error('bytes that belong to no answer')
      at = this.#step(chunk, at)
    }
  }

  /** The server said its last: true when that is how the body ends. */
  end(): boolean {
    if (this.#step !== this.#untilClose) return false
    this.#finish()
    return true
  }

  readonly #head: Step = (chunk, start) => {
    const end = endOfHead(this.#held, chunk, start)
    const text = this.#held + chunk.toString('latin1', start, end)
    if (text.length > this.#maxHeadBytes)
      throw new Error(`the head of the answer is longer than ${this.#maxHeadBytes} bytes`)
    this.#held = end === undefined ? text : ''
    if (end === undefined) return chunk.length
    this.#begun(parseResponseHead(text.slice(0, -BLANK_LINE.length), this.#isHead))
    return end
  }

  #begun(head: HttpResponseHead): void {
    if (head.status === 101) throw new Error('the server changed to a protocol that nobody asked for')
    if (head.status < 200 && head.status >= 100) return // it will answer later
    const { body } = head
    this.#watcher.onHead(head)
    if (body.kind === 'length') this.#left = body.bytes
    if (body.kind === 'none' || (body.kind === 'length' && body.bytes === 0)) this.#finish()
    else
      this.#step = { length: this.#counted, chunked: this.#size, 'until close': this.#untilClose }[body.kind]
  }

  readonly #counted: Step = (chunk, start) => {
    const end = this.#some(chunk, start)
    if (this.#left === 0) this.#finish()
    return end
  }

  readonly #untilClose: Step = (chunk, start) => {
    this.#watcher.onBody(start === 0 ? chunk : chunk.subarray(start))
    return chunk.length
  }

  readonly #size: Step = (chunk, start) =>
    this.#line(chunk, start, (line) => {
      const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? []
      if (digits === undefined) throw new Error(`no size of a chunk: ${JSON.stringify(line.slice(0, 80))}`)
      this.#left = Number.parseInt(digits, 16)
      this.#step = this.#left === 0 ? this.#trailer : this.#chunk
    })

  readonly #chunk: Step = (chunk, start) => {
    const end = this.#some(chunk, start)
    if (this.#left === 0) this.#step = this.#afterChunk
    return end
  }

  readonly #afterChunk: Step = (chunk, start) =>
    this.#line(chunk, start, (line) => {
      if (line !== '') throw new Error('a chunk that is longer than it said')
      this.#step = this.#size
    })

  /** Trailers are of this hop and not handed on. */
  readonly #trailer: Step = (chunk, start) =>
    this.#line(chunk, start, (line) => {
      if (line === '') this.#finish()
    })

  #some(chunk: Buffer, start: number): number {
    const end = Math.min(chunk.length, start + this.#left)
    this.#left -= end - start
    this.#watcher.onBody(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end))
    return end
  }

  #line(chunk: Buffer, start: number, take: (line: string) => void): number {
    const feed = chunk.indexOf(LINE_FEED, start)
    const end = feed < 0 ? chunk.length : feed + 1
    this.#held += chunk.toString('latin1', start, end)
    if (this.#held.length > LONGEST_LINE) throw new Error('a line between chunks that is too long')
    if (feed < 0) return end
    const line = this.#held
    this.#held = ''
    if (!line.endsWith('\r\n')) throw new Error('a line between chunks without its end')
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

/** Where the head ends; undefined when that is still to come. The blank line may be cut in two. */
function endOfHead(held: string, chunk: Buffer, start: number): number | undefined {
  const tail = held.slice(-BLANK_LINE.length + 1)
  const across = tail + chunk.toString('latin1', start, start + BLANK_LINE.length - 1)
  const cut = across.indexOf(BLANK_LINE)
  if (cut >= 0) return start + cut - tail.length + BLANK_LINE.length
  const at = chunk.indexOf(BLANK_LINE, start, 'latin1')
  return at < 0 ? undefined : at + BLANK_LINE.length
}

/** The first lines of an answer. */
export interface HttpResponseHead {
  readonly status: number
  readonly reason: string
  readonly headers: RawHeaders
  /** How the end of the body is known (RFC 9112, 6.3). */
  readonly body: { readonly kind: 'none' | 'chunked' | 'until close' } | BodyOfLength
  /** Whether the socket may carry another request afterwards. */
  readonly isKept: boolean
}

interface BodyOfLength {
  readonly kind: 'length'
  readonly bytes: number
}

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
// A head is read strictly: where two readers could disagree on it, one of them could be made to see another answer.
const FORBIDDEN = /[^\t\r\n\x20-\x7e\x80-\xff]/

/** Reads a head without its blank line; throws when it is none. Servers send the same head many times a second. */
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
  if (code === undefined) throw new Error(`no HTTP answer: ${JSON.stringify(first.slice(0, 80))}`)
  if (FORBIDDEN.test(text)) throw new Error('the head of the answer holds characters that none may hold')
  const headers = parseHeaderLines(lines)
  const status = Number(code)
  const body = isHead || status < 200 || status === 204 || status === 304 ? NO_BODY : bodyFraming(headers)
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
      throw new Error(`a header line that cannot be read: ${JSON.stringify(line.slice(0, 80))}`)
    headers.push(name, trimmed(line, colon + 1))
  }
  return headers
}

const LINE_BREAK = /[\r\n]/

/** Not String.trim: it would take the last byte of an à for a blank. */
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

function bodyFraming(headers: RawHeaders): HttpResponseHead['body'] {
  const coding = findHeader(headers, 'transfer-encoding')
  const lengths = new Set(valuesOf(headers, 'content-length'))
  if (coding !== undefined) {
    if (lengths.size > 0) throw new Error('an answer with both Transfer-Encoding and Content-Length')
    const last = valuesOf(headers, 'transfer-encoding').at(-1)?.split(',').at(-1)?.trim().toLowerCase()
    return { kind: last === 'chunked' ? 'chunked' : 'until close' }
  }
  if (lengths.size === 0) return { kind: 'until close' }
  const [length = ''] = lengths
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length))
    throw new Error('an answer with a Content-Length that is none')
  return { kind: 'length', bytes: Number(length) }
}

function valuesOf(headers: RawHeaders, name: string): string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]!.toLowerCase() === name)
}

function isConnectionKept(isLatest: boolean, headers: RawHeaders): boolean {
  const options = findHeader(headers, 'connection')?.toLowerCase() ?? ''
  return isLatest ? !/\bclose\b/.test(options) : /\bkeep-alive\b/.test(options)
}

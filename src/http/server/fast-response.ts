import { type ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import type { ServedResponse } from './http-server.ts'

interface FastResponseOptions {
  readonly socket: Socket
  /** How many seconds an idle connection is kept; 0 to close it after the response. */
  readonly keepAlive: number
  /** Called when everything was written to the socket. */
  readonly onEnd: (isLast: boolean) => void
}

/** The response of a proxy, to a request that Node or the fast listener has read. */
export type ProxyResponse = ServerResponse | FastResponse

/** The response to a request that the fast listener has read, with the same bytes that Node would write. */
export class FastResponse implements ServedResponse {
  /** Whether the parts of the body are framed as chunks here, and not by the caller. */
  chunkedEncoding = false
  /** Whether a `Date` is added to the head of another server. */
  sendDate = true
  readonly #options: FastResponseOptions
  #onClose: (() => void)[] | undefined
  #onDrain: (() => void)[] | undefined
  #head: FormattedResponseHead | undefined
  #state: 'waiting' | 'streaming' | 'ended' = 'waiting'
  #isClosed = false

  constructor(options: FastResponseOptions) {
    this.#options = options
  }

  get socket(): Socket {
    return this.#options.socket
  }

  get destroyed(): boolean {
    return this.#isClosed
  }

  get headersSent(): boolean {
    return this.#head !== undefined
  }

  get writableEnded(): boolean {
    return this.#state === 'ended'
  }

  get writableFinished(): boolean {
    return this.#state === 'ended'
  }

  get writableNeedDrain(): boolean {
    return this.#options.socket.writableNeedDrain
  }

  /** Takes headers to format, or the reason and the headers of another server, which keep their bytes. */
  writeHead(
    status: number,
    reasonOrHeaders: string | ResponseHeaderValues = {},
    headers: readonly string[] = [],
  ): this {
    const { keepAlive } = this.#options
    this.#head =
      typeof reasonOrHeaders === 'string'
        ? formatForwardedHead(status, reasonOrHeaders, headers, this.sendDate, keepAlive)
        : formatResponseHead(status, reasonOrHeaders, keepAlive)
    this.chunkedEncoding = this.#head.isChunked
    return this
  }

  /** Starts a stream. Everything that is written in the same tick is sent in one piece. */
  flushHeaders(): void {
    const { socket } = this.#options
    socket.cork()
    process.nextTick(() => socket.uncork())
    socket.write(this.#takeHead(), 'latin1')
  }

  write(data: string | Uint8Array, encoding: 'latin1' | 'utf8' = 'utf8'): boolean {
    const head = this.#takeHead()
    return this.#head?.hasBody === false ? true : this.#send(head, data, '', encoding)
  }

  end(data: string | Uint8Array = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
    if (this.#state === 'ended') return
    const head = this.#takeHead()
    this.#state = 'ended'
    const body = this.#head?.hasBody === false ? '' : data
    this.#send(head, body, this.chunkedEncoding ? LAST_CHUNK : '', encoding)
    if (this.#onClose !== undefined) this.#closeLater()
    this.#options.onEnd(this.#head?.closesConnection === true)
  }

  /** Closes the connection after sending what was already written. */
  destroy(): void {
    const { socket } = this.#options
    socket.uncork()
    socket.destroy()
  }

  on(event: 'close' | 'drain', action: () => void): void {
    if (event === 'drain') return void (this.#onDrain ??= []).push(action)
    if (this.#onClose === undefined && this.writableEnded) this.#closeLater()
    this.#onClose = [...(this.#onClose ?? []), action]
  }

  /** Called when the client has received everything, or has disconnected. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const action of this.#onClose ?? []) action()
  }

  /** Called when the client has received what was written. */
  drain(): void {
    for (const action of this.#onDrain ?? []) action()
  }

  #closeLater(): void {
    queueMicrotask(() => this.close())
  }

  /** Returns the head, or an empty text if it was already sent. */
  #takeHead(): string {
    if (this.#state !== 'waiting') return ''
    if (this.#head === undefined) this.writeHead(200)
    this.#state = 'streaming'
    return this.#head?.text ?? ''
  }

  /** Sends a part of the body, after the head and before `last`, in one piece. */
  #send(head: string, data: string | Uint8Array, last: string, encoding: 'latin1' | 'utf8'): boolean {
    const { socket } = this.#options
    if (typeof data === 'string' && (encoding === 'latin1' || this.#head?.isAscii !== false)) {
      const text = this.chunkedEncoding ? encodeChunk(data, encoding) : data
      return socket.write(head + text + last, encoding)
    }
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    const isFramed = this.chunkedEncoding && bytes.length > 0
    socket.cork()
    socket.write(isFramed ? `${head}${bytes.length.toString(16)}\r\n` : head, 'latin1')
    socket.write(bytes)
    const acceptsMore = socket.write(isFramed ? `\r\n${last}` : last, 'latin1')
    socket.uncork()
    return acceptsMore
  }
}

const LAST_CHUNK = '0\r\n\r\n'

// An empty chunk would end the body.
function encodeChunk(text: string, encoding: 'latin1' | 'utf8'): string {
  return text === '' ? '' : `${Buffer.byteLength(text, encoding).toString(16)}\r\n${text}\r\n`
}

type ResponseHeaderValues = Readonly<Record<string, string | number>>

/** The head of a response, and how its body is framed. */
interface FormattedResponseHead {
  readonly text: string
  /** Whether the body is chunked. Otherwise the head contains its length, or there is none. */
  readonly isChunked: boolean
  readonly hasBody: boolean
  readonly isAscii: boolean
  /** Whether the connection is closed after the response. */
  readonly closesConnection: boolean
}

/** Formats a head like Node does. */
function formatResponseHead(
  status: number,
  headers: ResponseHeaderValues,
  keepAlive: number,
): FormattedResponseHead {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  let given = 0
  let closesConnection = keepAlive === 0
  for (const name in headers) {
    const value = String(headers[name])
    const meaning = headerFlag(name)
    validateHeaderValue(name, value)
    text += `${name}: ${value}\r\n`
    given |= meaning
    if (meaning === CONNECTION) closesConnection ||= /\bclose\b/i.test(value)
  }
  const hasLength = (given & LENGTH) !== 0
  const encoding = hasLength || (given & ENCODING) !== 0 ? '' : 'Transfer-Encoding: chunked\r\n'
  return {
    text: `${text}${defaultLines(given, keepAlive)}${encoding}\r\n`,
    isChunked: !hasLength,
    hasBody: true,
    isAscii: true,
    closesConnection,
  }
}

/** Formats the head of another server like Node does: the headers keep their spelling and order, and their bytes. */
function formatForwardedHead(
  status: number,
  reason: string,
  headers: readonly string[],
  sendDate: boolean,
  keepAlive: number,
): FormattedResponseHead {
  if (status < 100) throw new RangeError(`Invalid status code: ${status}`)
  if (INVALID_TEXT.test(reason)) throw new TypeError('Invalid character in statusMessage')
  let text = `HTTP/1.1 ${status} ${reason}\r\n`
  let given = sendDate ? 0 : DATE
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    given |= headerFlag(name)
    if (INVALID_TEXT.test(value)) throw new TypeError(`Invalid character in header content [${name}]`)
    text += `${name}: ${value}\r\n`
  }
  const hasBody = status !== NO_CONTENT && status !== NOT_MODIFIED
  const isChunked = hasBody && (given & LENGTH) === 0
  text += `${defaultLines(given, keepAlive)}${isChunked ? 'Transfer-Encoding: chunked\r\n' : ''}\r\n`
  return { text, isChunked, hasBody, isAscii: !NON_ASCII.test(text), closesConnection: keepAlive === 0 }
}

const [NO_CONTENT, NOT_MODIFIED] = [204, 304]
const INVALID_TEXT = /[^\t\x20-\x7e\x80-\xff]/
const NON_ASCII = /[\x80-\xff]/

const [DATE, CONNECTION, LENGTH, ENCODING] = [1, 2, 4, 8]
const HEADER_FLAGS: ReadonlyMap<string, number> = new Map([
  ['date', DATE],
  ['connection', CONNECTION],
  ['content-length', LENGTH],
  ['transfer-encoding', ENCODING],
])
const knownFlags = new Map<string, number>()

/** Validates each name only once, because there are few. */
function headerFlag(name: string): number {
  const found = knownFlags.get(name)
  if (found !== undefined) return found
  validateHeaderName(name)
  const meaning = HEADER_FLAGS.get(name.toLowerCase()) ?? 0
  knownFlags.set(name, meaning)
  return meaning
}

/** The lines for headers that were not given. */
function defaultLines(given: number, keepAlive: number): string {
  if ((given & (DATE | CONNECTION)) === 0) return cachedDefaultLines(keepAlive)
  return `${(given & DATE) === 0 ? dateLine() : ''}${(given & CONNECTION) === 0 ? connectionLines(keepAlive) : ''}`
}

let cachedLines = { keepAlive: 0, date: '', lines: '' }

/** Cached, because these lines change only once per second. */
function cachedDefaultLines(keepAlive: number): string {
  const date = httpDate()
  if (cachedLines.date !== date || cachedLines.keepAlive !== keepAlive)
    cachedLines = { keepAlive, date, lines: dateLine() + connectionLines(keepAlive) }
  return cachedLines.lines
}

function dateLine(): string {
  return `Date: ${httpDate()}\r\n`
}

function connectionLines(keepAlive: number): string {
  if (keepAlive === 0) return 'Connection: close\r\n'
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAlive}\r\n`
}

let cachedSecond = 0
let cachedDate = ''

/** The current time in the format of HTTP. */
function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== cachedSecond) {
    cachedSecond = now
    cachedDate = new Date(now * 1000).toUTCString()
  }
  return cachedDate
}

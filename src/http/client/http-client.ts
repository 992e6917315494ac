import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ResponseReader, type HttpResponseHead } from './response-reader.ts'
import { findHeader, MAX_HEAD_BYTES, type RawHeaders } from '../headers.ts'
import { bareHost } from '../hosts.ts'

export interface HttpClientOptions {
  /** Closes a connection that is idle for this long; by default 2000 ms. */
  readonly maxIdleMs?: number
}

// A request is never sent twice, so it must not go to a connection that the server is just closing. Most servers keep an
// idle connection for five seconds or more.
const MAX_IDLE_MS = 2000

/**
 * A small HTTP/1.1 client on sockets, several times as fast as `fetch` or `node:http` (docs/decisions/0013). It keeps idle
 * connections per origin and uses the most recent one first. It follows no redirects and never retries.
 */
export class HttpClient {
  readonly #maxIdleMs: number
  readonly #connections = new Set<HttpConnection>()
  readonly #idle = new Map<string, HttpConnection[]>()
  /** The connection that became idle last. A client with one request at a time needs no other. */
  #latestIdle: HttpConnection | undefined
  /** The URL of the last request, and the idle connections to its origin: reading the origin of a URL takes as long as sending to it. */
  #last: { readonly url: URL; readonly idle: HttpConnection[] } | undefined
  #sweep: NodeJS.Timeout | undefined

  constructor({ maxIdleMs = MAX_IDLE_MS }: HttpClientOptions = {}) {
    this.#maxIdleMs = maxIdleMs
  }

  /** Starts an exchange with the server at this URL. The caller sends the body and ends the request. */
  send(url: URL, head: RequestHead, handlers: ResponseHandlers): HttpExchange {
    return this.#connectionTo(url).start(head, handlers)
  }

  /** Closes all connections. The handlers of exchanges that are still open are not called. */
  close(): void {
    clearTimeout(this.#sweep)
    for (const connection of this.#connections) connection.close()
  }

  #connectionTo(url: URL): HttpConnection {
    const latest = this.#latestIdle
    this.#latestIdle = undefined
    if (latest?.url === url && latest.isReusable(performance.now())) return latest
    if (latest !== undefined) this.#idleTo(latest.url).push(latest)
    const idle = this.#idleTo(url)
    for (let known = idle.pop(); known !== undefined; known = idle.pop()) {
      if (known.isReusable(performance.now())) return known // the timer may be late on a busy machine
      known.close()
    }
    const connection = new HttpConnection(url, {
      maxIdleMs: this.#maxIdleMs,
      onIdle: (free) => this.#keep(free),
      onClose: (closed) => this.#remove(closed),
    })
    this.#connections.add(connection)
    return connection
  }

  #idleTo(url: URL): HttpConnection[] {
    if (this.#last?.url === url) return this.#last.idle
    const idle = this.#idle.get(url.origin) ?? []
    this.#idle.set(url.origin, idle)
    this.#last = { url, idle }
    return idle
  }

  #keep(free: HttpConnection): void {
    if (this.#latestIdle !== undefined) this.#idleTo(this.#latestIdle.url).push(this.#latestIdle)
    this.#latestIdle = free
    this.#sweep ??= setTimeout(() => this.#closeIdle(), this.#maxIdleMs).unref()
  }

  /** One timer serves all connections: setting one for every request would cost a few percent of its CPU time. */
  #closeIdle(): void {
    const now = performance.now()
    const idle = [...this.#idle.values()].flat()
    if (this.#latestIdle !== undefined) idle.push(this.#latestIdle)
    for (const connection of idle) if (!connection.isReusable(now)) connection.close()
    this.#sweep =
      idle.length === 0 ? undefined : setTimeout(() => this.#closeIdle(), this.#maxIdleMs / 4).unref()
  }

  #remove(closed: HttpConnection): void {
    this.#connections.delete(closed)
    if (this.#latestIdle === closed) this.#latestIdle = undefined
    const idle = this.#idle.get(closed.url.origin) ?? []
    const at = idle.indexOf(closed)
    if (at >= 0) idle.splice(at, 1)
  }
}

/** Receives the response to one request. After `abort`, or after the client was closed, only `onDrain` may still be called. */
export interface ResponseHandlers {
  /**
   * Is shown what arrives first, in memory that is used again. Returns true if this is a whole response that the caller has read
   * before; then only `onEnd` follows. The connection must be kept alive after it.
   */
  readonly isKnown?: (received: Buffer, bytes: number) => boolean
  readonly onHead: (head: HttpResponseHead) => void
  readonly onBody: (bytes: Buffer) => void
  /** The response is complete. */
  readonly onEnd: () => void
  /** The connection failed before the response was complete. */
  readonly onFail: (error: Error) => void
  /** The whole request was handed to the operating system. */
  readonly onSent?: (() => void) | undefined
  /** After `write` returned false: the connection accepts more, or it is closed and the rest of the request is discarded. */
  readonly onDrain?: () => void
}

interface ConnectionOptions {
  readonly maxIdleMs: number
  readonly onIdle: (connection: HttpConnection) => void
  readonly onClose: (connection: HttpConnection) => void
}

/**
 * A keep-alive connection that carries one exchange after the other. A request is never sent twice: when the connection
 * breaks, its exchange fails.
 */
export class HttpConnection {
  readonly url: URL
  readonly #options: ConnectionOptions
  readonly #socket: Socket
  readonly #reader: ResponseReader
  #exchange: HttpExchange | undefined
  #lastHead: HttpResponseHead | undefined
  #isKeptAlive = true
  #hasUnreportedEnd = false
  /** Some of the response to the current request has been read. */
  #isReading = false
  #isPaused = false
  /** When the last request began. A response that is read late may have been sent long ago, so idle time counts from here. */
  #startedAt = 0
  #idleMs: number
  #error: Error | undefined

  constructor(url: URL, options: ConnectionOptions) {
    this.url = url
    this.#options = options
    this.#idleMs = options.maxIdleMs
    this.#reader = new ResponseReader(
      {
        onHead: (head) => this.#begin(head),
        onBody: (bytes) => this.#exchange?.handlers.onBody(bytes),
        onEnd: () => void (this.#hasUnreportedEnd = true),
      },
      MAX_HEAD_BYTES,
    )
    this.#socket = openSocket(url, {
      isKnown: (received, bytes) => this.#endIfKnown(received, bytes),
      onChunk: (chunk) => this.#read(chunk),
    })
    this.#socket.on('drain', () => this.#exchange?.handlers.onDrain?.())
    this.#socket.on('end', () => this.#endOfInput())
    this.#socket.on('error', (error) => void (this.#error ??= withMessage(error)))
    this.#socket.on('close', () => this.#onClose())
  }

  /** Whether the connection can carry another request. If it was idle for too long, the server may be about to close it. */
  isReusable(now: number): boolean {
    return !this.#socket.destroyed && now - this.#startedAt < this.#idleMs
  }

  start(head: RequestHead, handlers: ResponseHandlers): HttpExchange {
    this.#exchange = new HttpExchange(this, head, handlers)
    this.#isReading = false
    this.#startedAt = performance.now()
    this.#socket.ref()
    return this.#exchange
  }

  write(data: string | Uint8Array, encoding?: 'latin1' | 'utf8', onSent?: () => void): boolean {
    return this.#socket.write(data, encoding, onSent)
  }

  /** The request is complete. The response may have been complete before. */
  requestSent(exchange: HttpExchange): void {
    if (exchange.isResponseComplete) this.#release()
  }

  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Closes the connection without calling the handlers of its exchange. */
  close(): void {
    this.#exchange?.detach()
    this.#exchange = undefined
    this.#socket.destroy()
  }

  #begin(head: HttpResponseHead): void {
    if (head !== this.#lastHead) this.#idleMs = Math.min(this.#options.maxIdleMs, announcedIdleMs(head))
    this.#lastHead = head
    this.#isKeptAlive = head.isKept
    this.#exchange?.handlers.onHead(head)
  }

  #endIfKnown(received: Buffer, bytes: number): boolean {
    const exchange = this.#exchange
    if (exchange?.handlers.isKnown === undefined || this.#isReading || !exchange.isRequestSent) return false
    if (this.#lastHead === undefined) return false // how long this connection may be idle is not known yet
    if (!exchange.handlers.isKnown(received, bytes)) return false
    this.#reportEnd()
    return true
  }

  #read(chunk: Buffer): void {
    if (!this.#isReading && this.#exchange !== undefined) this.#reader.begin(this.#exchange.method)
    this.#isReading = true
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.#error ??= error instanceof Error ? error : new Error(String(error))
      this.#isKeptAlive = false
      this.#socket.destroy()
    }
    if (this.#hasUnreportedEnd) this.#reportEnd()
  }

  #endOfInput(): void {
    if (this.#reader.end()) this.#reportEnd()
    else this.#socket.destroy()
  }

  /** A server may respond before it has read the whole request. The connection is free when both are complete. */
  #reportEnd(): void {
    this.#hasUnreportedEnd = false
    const exchange = this.#exchange
    if (exchange === undefined) return
    exchange.isResponseComplete = true
    if (exchange.isRequestSent || !this.#isKeptAlive) this.#release()
    exchange.handlers.onEnd()
  }

  #release(): void {
    this.#exchange?.detach()
    this.#exchange = undefined
    if (!this.#isKeptAlive || this.#socket.destroyed) return void this.#socket.destroy()
    this.#socket.unref()
    if (this.#isPaused) this.resume()
    this.#options.onIdle(this)
  }

  #onClose(): void {
    this.#options.onClose(this)
    const exchange = this.#exchange
    if (exchange === undefined) return
    this.#exchange = undefined
    exchange.detach()
    if (!exchange.isResponseComplete) exchange.handlers.onFail(this.#error ?? closedError())
  }
}

/** One request and its response. The head of the request waits for the first bytes of the body, to share their packet. */
export class HttpExchange {
  readonly handlers: ResponseHandlers
  isRequestSent = false
  isResponseComplete = false
  readonly #head: RequestHead
  #connection: HttpConnection | undefined
  #isHeadSent = false

  constructor(connection: HttpConnection, head: RequestHead, handlers: ResponseHandlers) {
    this.#connection = connection
    this.#head = head
    this.handlers = handlers
  }

  get method(): string {
    return this.#head.method
  }

  /** Sends a part of the body; a string holds one byte per character (Latin-1). Returns false if the sender should wait for `onDrain`. */
  write(data: string | Uint8Array): boolean {
    if (this.#connection === undefined) return true
    if (this.#head.isChunked) return this.#writeChunk(data)
    if (typeof data === 'string') return this.#writeText(data)
    this.#writeText('')
    return this.#connection.write(data)
  }

  /** Ends the request. A text given here is its whole body, encoded as UTF-8 and sent with its length. The caller may know that it is ASCII. */
  end(body?: string, isAscii?: boolean): void {
    if (this.isRequestSent) return
    this.isRequestSent = true
    if (body === undefined) this.#writeText(this.#head.isChunked ? '0\r\n\r\n' : '', this.handlers.onSent)
    else this.#writeWhole(body, isAscii === true ? body.length : Buffer.byteLength(body))
    this.#connection?.requestSent(this)
  }

  /** Stops reading the response until `resume`. */
  pause(): void {
    if (!this.isResponseComplete) this.#connection?.pause()
  }

  resume(): void {
    if (!this.isResponseComplete) this.#connection?.resume()
  }

  /** Gives the exchange up. A connection cannot be used again after that, so it is closed. */
  abort(): void {
    this.#connection?.close()
  }

  /** The connection is done with this exchange, or closed. */
  detach(): void {
    this.#connection = undefined
    if (!this.isRequestSent) this.handlers.onDrain?.()
  }

  #writeChunk(data: string | Uint8Array): boolean {
    const size = `${data.length.toString(16)}\r\n`
    if (typeof data === 'string') return this.#writeText(`${size}${data}\r\n`)
    this.#writeText(size)
    this.#connection?.write(data)
    return this.#writeText('\r\n')
  }

  #writeText(text: string, onSent?: () => void): boolean {
    const data = this.#isHeadSent ? text : `${this.#head.text}\r\n${text}`
    this.#isHeadSent = true
    if (this.#connection === undefined || (data === '' && onSent === undefined)) return true
    return this.#connection.write(data, 'latin1', onSent)
  }

  #writeWhole(body: string, bytes: number): void {
    const head = `${this.#head.text}Content-Length: ${bytes}\r\n\r\n`
    this.#isHeadSent = true
    if (bytes === body.length)
      return void this.#connection?.write(head + body, 'latin1', this.handlers.onSent) // ASCII
    if (this.#head.isAscii) return void this.#connection?.write(head + body, 'utf8', this.handlers.onSent)
    this.#connection?.write(head, 'latin1')
    this.#connection?.write(body, 'utf8', this.handlers.onSent)
  }
}

/** A request head that is ready to be sent, any number of times. */
export interface RequestHead {
  readonly method: string
  /** The request line and the headers, without the blank line after them. */
  readonly text: string
  /** The headers announce a chunked body. */
  readonly isChunked: boolean
  readonly isAscii: boolean
}

/** Formats a request head. Throws if a receiver could read it as something else, for example because a value holds a line break. */
export function requestHead(method: string, path: string, headers: RawHeaders): RequestHead {
  if (!TOKEN.test(method) || INVALID_PATH.test(path))
    throw new Error(`${JSON.stringify(`${method} ${path}`)} cannot be sent as an HTTP request line`)
  let text = `${method} ${path} HTTP/1.1\r\n`
  let [isChunked, hasLength] = [false, false]
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    if (!TOKEN.test(name) || INVALID_VALUE.test(value))
      throw new Error(`the header ${JSON.stringify(name)} cannot be sent: it contains an invalid character`)
    const isCoding = name.length === TRANSFER_ENCODING.length && name.toLowerCase() === TRANSFER_ENCODING
    const isLength = name.length === CONTENT_LENGTH.length && name.toLowerCase() === CONTENT_LENGTH
    if ((isCoding || isLength) && (isChunked || hasLength))
      throw new Error('the request cannot be sent: it has two lengths')
    isChunked ||= isCoding
    hasLength ||= isLength
    text += `${name}: ${value}\r\n`
  }
  return { method, text, isChunked, isAscii: !NON_ASCII.test(text) }
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const INVALID_PATH = /[^\x21-\x7e\x80-\xff]/
const INVALID_VALUE = /[^\t\x20-\x7e\x80-\xff]/
const NON_ASCII = /[\x80-\xff]/
const TRANSFER_ENCODING = 'transfer-encoding'
const CONTENT_LENGTH = 'content-length'

/** How long the server keeps an idle connection, less the time that a request may take to arrive. */
function announcedIdleMs({ headers }: HttpResponseHead): number {
  const seconds = /timeout=(\d{1,6})/.exec(findHeader(headers, 'keep-alive') ?? '')?.[1]
  return seconds === undefined ? Infinity : Number(seconds) * 800
}

interface SocketReader {
  /** Returns true if the bytes need not be read, because they are known. */
  readonly isKnown: (received: Buffer, bytes: number) => boolean
  readonly onChunk: (chunk: Buffer) => void
}

function openSocket(url: URL, reader: SocketReader): Socket {
  const host = bareHost(url)
  const options = { host, noDelay: true, keepAlive: true, keepAliveInitialDelay: 1000 }
  if (url.protocol === 'http:') {
    const onread = { buffer: RECEIVED, callback: takeReceived(reader) }
    return connect({ ...options, port: Number(url.port || 80), onread })
  }
  const socket = connectTls({
    ...options,
    port: Number(url.port || 443),
    servername: isIP(host) === 0 ? host : '', // a server name is never an IP address (RFC 6066, 3)
    ALPNProtocols: ['http/1.1'],
  })
  return socket.on('data', (chunk: Buffer) => reader.isKnown(chunk, chunk.length) || reader.onChunk(chunk))
}

/**
 * All connections receive into the same memory, from which each chunk is copied at once. A third of the time of a small response
 * would otherwise be spent in the stream of the socket, and on a new buffer of 64 KiB for each chunk.
 */
const RECEIVED: Buffer = Buffer.allocUnsafeSlow(64 * 1024)

function takeReceived({ isKnown, onChunk }: SocketReader): (bytes: number) => boolean {
  return (bytes) => {
    if (isKnown(RECEIVED, bytes)) return true
    const chunk = Buffer.allocUnsafe(bytes)
    RECEIVED.copy(chunk, 0, 0, bytes)
    onChunk(chunk)
    return true
  }
}

/** Node gives a failure to connect to several addresses of a host an empty message. */
function withMessage(error: NodeJS.ErrnoException): Error {
  if (error.message === '') error.message = error.code ?? 'unknown error'
  return error
}

function closedError(): Error {
  return Object.assign(new Error('the server closed the connection'), { code: 'ECONNRESET' })
}

import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type HttpResponseHead, ResponseReader } from './response-reader.ts'
import { findHeader, MAX_HEAD_BYTES } from '../headers.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A request that is on its way. */
export interface PendingHttpRequest {
  /** Nobody is told any more of what comes. */
  abort(): void
}

/**
 * A small HTTP/1.1 client on sockets, for the hot path of replay and load: some ten times as many requests a second as
 * `fetch`. Nothing is ever sent twice: an idle connection that the server has closed meanwhile fails its request.
 */
export class HttpClient {
  readonly #idle = new Map<string, HttpConnection[]>()
  readonly #all = new Set<HttpConnection>()
  /** Heads by their headers: thousands of requests have the same. */
  readonly #heads = new WeakMap<HttpRequest['headers'], FormattedRequestHead>()

  send(request: HttpRequest, handlers: HttpResponseHandlers): PendingHttpRequest {
    const { method, url, body } = request
    const head = this.#headOf(request)
    if (head === undefined) return rejectUnwritable(handlers)
    const text =
      body === undefined ? `${head}\r\n` : `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    const connection = this.#connectionTo(url)
    connection.send(method, text, handlers)
    return { abort: () => connection.abort(handlers) }
  }

  close(): void {
    for (const connection of this.#all) connection.destroy()
    this.#all.clear()
    this.#idle.clear()
  }

  #headOf({ method, url, headers }: HttpRequest): string | undefined {
    const known = this.#heads.get(headers)
    if (known?.method === method && known.url === url) return known.text
    const text = formatClientHead(method, url, headers)
    this.#heads.set(headers, { method, url, text })
    return text
  }

  #connectionTo(url: URL): HttpConnection {
    const idle = this.#idle.get(url.origin) ?? []
    for (let known = idle.pop(); known !== undefined; known = idle.pop()) {
      if (known.isUsable) return known
      this.#drop(known)
    }
    const connection = new HttpConnection(url, (one) => this.#keepIdle(url.origin, one))
    this.#all.add(connection)
    return connection
  }

  #keepIdle(origin: string, connection: HttpConnection): void {
    const idle = this.#idle.get(origin) ?? []
    idle.push(connection)
    this.#idle.set(origin, idle)
  }

  #drop(connection: HttpConnection): void {
    this.#all.delete(connection)
    connection.destroy()
  }
}

function rejectUnwritable({ onError }: HttpResponseHandlers): PendingHttpRequest {
  queueMicrotask(() => onError('a header of the request cannot be written'))
  return { abort: () => {} }
}

interface FormattedRequestHead extends Pick<HttpRequest, 'method' | 'url'> {
  readonly text: string | undefined
}

/** Undefined when a header would be read as something else than it is: its text may come from a tape or a server. */
function formatClientHead(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || INVALID_VALUE.test(value)) return undefined
    head += `${name}: ${value}\r\n`
  }
  return head
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/
const INVALID_VALUE = /[^\t\u0020-\u007e]/

/** What a request is told of its response. Exactly one of `onEnd` and `onError` is called, once. */
interface HttpResponseHandlers {
  readonly onHead: (head: HttpResponseHead) => void
  readonly onBody: (chunk: Buffer) => void
  readonly onEnd: () => void
  readonly onError: (why: string) => void
}

// Servers close what is idle for five seconds, and a request that meets the closing is lost.
const MAX_IDLE_MS = 4000

/** One keep-alive connection to a server, for one request at a time. */
class HttpConnection {
  readonly #socket: Socket
  readonly #onIdle: (connection: HttpConnection) => void
  readonly #reader: ResponseReader
  #current: HttpResponseHandlers | undefined
  #isKeptAlive = true
  #usableUntil = Infinity
  #lastHead: HttpResponseHead | undefined
  #idleLimit = MAX_IDLE_MS

  constructor(url: URL, onIdle: (connection: HttpConnection) => void) {
    this.#onIdle = onIdle
    this.#reader = new ResponseReader(
      {
        onHead: (head) => this.#begin(head),
        onBody: (chunk) => this.#current?.onBody(chunk),
        onEnd: () => this.#finish(),
      },
      MAX_HEAD_BYTES,
    )
    this.#socket = connectTo(url)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.on('end', () => void this.#reader.end())
    this.#socket.on('error', (error) => this.#fail(error.message))
    this.#socket.on('close', () => this.#fail('the connection was closed'))
  }

  /** Whether it can carry another request. */
  get isUsable(): boolean {
    return performance.now() < this.#usableUntil && !this.#socket.destroyed && this.#socket.writable
  }

  send(method: string, request: string, handlers: HttpResponseHandlers): void {
    this.#current = handlers
    this.#reader.begin(method)
    this.#socket.ref()
    this.#socket.write(request)
  }

  /** Gives up what is on its way, if it is still this. */
  abort(handlers: HttpResponseHandlers): void {
    if (this.#current === handlers) this.destroy()
  }

  destroy(): void {
    this.#current = undefined
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error))
      this.#socket.destroy()
    }
  }

  #begin(head: HttpResponseHead): void {
    this.#isKeptAlive = head.isKept
    if (head !== this.#lastHead) this.#idleLimit = idleLimitOf(head)
    this.#lastHead = head
    this.#usableUntil = performance.now() + this.#idleLimit
    this.#current?.onHead(head)
  }

  #finish(): void {
    const done = this.#current
    this.#current = undefined
    if (this.#isKeptAlive) this.#becomeIdle()
    else this.#socket.destroy()
    done?.onEnd()
  }

  // An idle connection keeps no process alive.
  #becomeIdle(): void {
    this.#socket.unref()
    this.#onIdle(this)
  }

  #fail(why: string): void {
    const failed = this.#current
    this.#current = undefined
    failed?.onError(why)
  }
}

/** Milliseconds for which the server keeps a connection that nothing goes over, less what a request takes to get there. */
function idleLimitOf({ headers }: HttpResponseHead): number {
  const said = /timeout=(\d{1,6})/.exec(findHeader(headers, 'keep-alive') ?? '')?.[1]
  return said === undefined ? MAX_IDLE_MS : Math.min(MAX_IDLE_MS, Number(said) * 800)
}

function connectTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  if (protocol !== 'https:') return connectPlain({ host, port: Number(port || 80) })
  return connectTls({ host, port: Number(port || 443), ALPNProtocols: ['http/1.1'], ...tlsServerName(host) })
}

// An address is no name that a certificate could be asked for.
function tlsServerName(host: string): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host }
}

import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { findHeader, MAX_HEAD_BYTES } from '../../http/headers.ts'
import type { HttpResponseHead } from '../response-head.ts'
import { ResponseReader } from '../../http/client/response-reader.ts'

/** What a request is told of its response. Exactly one of `onEnd` and `onError` is called, once. */
export interface HttpResponseHandlers {
  readonly onHead: (head: HttpResponseHead) => void
  readonly onBody: (chunk: Buffer) => void
  readonly onEnd: () => void
  readonly onError: (why: string) => void
}

// Servers close what is idle for five seconds, and a request that meets the closing is lost.
const MAX_IDLE_MS = 4000

/** One keep-alive connection to a server, for one request at a time. */
export class HttpConnection {
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

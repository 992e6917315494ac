import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ResponseReader, type ResponseHead } from './response-reader.ts'

/** What a request is told of its response. Exactly one of `onEnd` and `onError` is called, once. */
export interface ExchangeHandlers {
  readonly onHead: (head: ResponseHead) => void
  readonly onBody: (chunk: Buffer) => void
  readonly onEnd: () => void
  readonly onError: (why: string) => void
}

const IDLE_LIMIT = 4000

/** One keep-alive connection to a server, for one request at a time. */
export class Connection {
  readonly #socket: Socket
  readonly #onIdle: (connection: Connection) => void
  readonly #reader: ResponseReader
  #current: ExchangeHandlers | undefined
  #idleSince = 0

  constructor(url: URL, onIdle: (connection: Connection) => void) {
    this.#onIdle = onIdle
    this.#reader = new ResponseReader({
      onHead: (head) => this.#current?.onHead(head),
      onBody: (chunk) => this.#current?.onBody(chunk),
      onEnd: (reusable) => this.#finish(reusable),
    })
    this.#socket = open(url)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.on('error', (error) => this.#fail(error.message))
    this.#socket.on('close', () => this.#closed())
  }

  /** Servers close what is idle for five seconds, and a request that meets the closing is lost. */
  get isUsable(): boolean {
    const isFresh = performance.now() - this.#idleSince < IDLE_LIMIT
    return isFresh && !this.#socket.destroyed && this.#socket.writable
  }

  send(request: string, handlers: ExchangeHandlers): void {
    this.#current = handlers
    this.#socket.ref()
    this.#socket.write(request)
  }

  /** Gives up what is on its way. */
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

  #finish(reusable: boolean): void {
    const done = this.#current
    this.#current = undefined
    if (reusable) this.#rest()
    else this.#socket.destroy()
    done?.onEnd()
  }

  // An idle connection keeps no process alive.
  #rest(): void {
    this.#idleSince = performance.now()
    this.#socket.unref()
    this.#onIdle(this)
  }

  #closed(): void {
    if (this.#current !== undefined && !this.#reader.close()) this.#fail('the connection was closed')
  }

  #fail(why: string): void {
    const failed = this.#current
    this.#current = undefined
    failed?.onError(why)
  }
}

function open({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  if (protocol !== 'https:') return connectPlain({ host, port: Number(port || 80) })
  return connectTls({ host, port: Number(port || 443), ALPNProtocols: ['http/1.1'], ...serverName(host) })
}

// An address is no name that a certificate could be asked for.
function serverName(host: string): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host }
}

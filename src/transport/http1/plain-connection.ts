import type { Socket } from 'node:net'
import type { ServedHandler } from './exchange.ts'
import type { PlainHead, PlainHeads } from './plain-head.ts'
import { PlainResponse } from './plain-response.ts'

export interface PlainConnectionOptions {
  readonly socket: Socket
  readonly heads: PlainHeads
  readonly onRequest: ServedHandler
  /** Takes over a connection on which something else came, which is given back to the socket to be read again. */
  readonly onOther: (socket: Socket) => void
  /** For how long the connection is kept when nothing goes over it, in milliseconds. */
  readonly keepAliveMs: number
}

/** A request of which a part is still to come. */
interface Coming {
  readonly head: PlainHead
  readonly parts: Buffer[]
  left: number
}

/**
 * One connection, as long as what comes by it are requests in plain form, one after the other. With the first that is
 * anything else the connection goes to someone who can read that.
 */
export class PlainConnection {
  readonly #options: PlainConnectionOptions
  #coming: Coming | undefined
  #answering: PlainResponse | undefined
  /** What came before the answer to the last request was given. */
  readonly #early: Buffer[] = []

  constructor(options: PlainConnectionOptions) {
    const { socket, keepAliveMs } = options
    this.#options = options
    socket.setTimeout(keepAliveMs + GRACE_MS)
    socket.on('data', this.#take)
    socket.on('end', this.#end)
    socket.on('timeout', this.#rest)
    socket.on('drain', this.#drain)
    socket.on('error', ignore)
    socket.on('close', this.#close)
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#answering !== undefined) return this.#wait(chunk)
    if (this.#coming !== undefined) return this.#collect(this.#coming, chunk)
    const end = chunk.indexOf(BLANK_LINE)
    const head = end < 0 ? undefined : this.#options.heads.read(chunk.toString('latin1', 0, end))
    if (head === undefined) return this.#handOver(chunk)
    const body = chunk.subarray(end + BLANK_LINE.length)
    if (body.length === head.length) return this.#answer(head, body)
    if (body.length > head.length) return this.#handOver(chunk)
    this.#coming = { head, parts: [body], left: head.length - body.length }
  }

  #collect(coming: Coming, chunk: Buffer): void {
    const part = chunk.length > coming.left ? chunk.subarray(0, coming.left) : chunk
    coming.parts.push(part)
    coming.left -= part.length
    if (coming.left > 0) return
    this.#coming = undefined
    if (part !== chunk) this.#early.push(chunk.subarray(part.length))
    this.#answer(coming.head, Buffer.concat(coming.parts))
  }

  #answer({ url, headers, rawHeaders, isLast }: PlainHead, body: Buffer): void {
    const { socket, keepAliveMs, onRequest } = this.#options
    const keepAlive = isLast ? 0 : Math.floor(keepAliveMs / 1000)
    const response = new PlainResponse({ socket, keepAlive, onEnd: this.#answered })
    this.#answering = response
    onRequest({ method: 'POST', url, headers, rawHeaders, body }, response)
  }

  readonly #answered = (isLast: boolean): void => {
    const { socket } = this.#options
    this.#answering = undefined
    if (isLast) {
      socket.off('data', this.#take)
      return socket.destroySoon()
    }
    if (this.#early.length > 0) this.#handOver(Buffer.concat(this.#early))
    else if (socket.writableNeedDrain) socket.pause()
  }

  #wait(chunk: Buffer): void {
    this.#early.push(chunk)
    this.#options.socket.pause()
  }

  #handOver(chunk: Buffer): void {
    const { socket, onOther } = this.#options
    socket.off('data', this.#take)
    socket.off('end', this.#end)
    socket.off('timeout', this.#rest)
    socket.off('drain', this.#drain)
    socket.off('error', ignore)
    socket.off('close', this.#close)
    socket.setTimeout(0)
    socket.pause()
    socket.unshift(chunk)
    onOther(socket)
    socket.resume()
  }

  // As Node does: who will say no more is not answered any more.
  readonly #end = (): void => void this.#options.socket.end()

  readonly #rest = (): void => {
    const { socket } = this.#options
    const isIdle = this.#answering === undefined && this.#coming === undefined && socket.writableLength === 0
    if (isIdle) socket.destroy()
  }

  readonly #drain = (): void => {
    if (this.#answering !== undefined) return this.#answering.drain()
    this.#options.socket.resume()
  }

  readonly #close = (): void => this.#answering?.close()
}

// A request that is on its way when its time is over gets through.
const GRACE_MS = 1000
const BLANK_LINE = '\r\n\r\n'

function ignore(): void {} // a client that leaves is owed nothing

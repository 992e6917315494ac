import type { Socket } from 'node:net'
import type { ServedHandler } from '../../http/server/served-exchange.ts'
import type { FastRequestHead, FastHeadCache } from './plain-head.ts'
import { FastResponse } from '../../http/server/fast-response.ts'

export interface FastConnectionOptions {
  readonly socket: Socket
  readonly heads: FastHeadCache
  readonly onRequest: ServedHandler
  /** Takes over a connection on which something else came, which is given back to the socket to be read again. */
  readonly onOther: (socket: Socket) => void
  /** For how long the connection is kept when nothing goes over it, in milliseconds. */
  readonly keepAliveMs: number
}

/** A request of which a part is still to come. */
interface IncompleteRequest {
  readonly head: FastRequestHead
  readonly parts: Buffer[]
  left: number
}

/**
 * One connection, as long as what comes by it are requests in plain form, one after the other. With the first that is
 * anything else the connection goes to someone who can read that.
 */
export class FastConnection {
  readonly #options: FastConnectionOptions
  #incomplete: IncompleteRequest | undefined
  #response: FastResponse | undefined
  /** What came before the answer to the last request was given. */
  readonly #pipelined: Buffer[] = []

  constructor(options: FastConnectionOptions) {
    const { socket, keepAliveMs } = options
    this.#options = options
    socket.setTimeout(keepAliveMs + GRACE_MS)
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('timeout', this.#onTimeout)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignoreError)
    socket.on('close', this.#onClose)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#response !== undefined) return this.#queueEarly(chunk)
    if (this.#incomplete !== undefined) return this.#collect(this.#incomplete, chunk)
    const end = chunk.indexOf(BLANK_LINE)
    const head = end < 0 ? undefined : this.#options.heads.read(chunk.toString('latin1', 0, end))
    if (head === undefined) return this.#handToNode(chunk)
    const body = chunk.subarray(end + BLANK_LINE.length)
    if (body.length === head.length) return this.#dispatch(head, body)
    if (body.length > head.length) return this.#handToNode(chunk)
    this.#incomplete = { head, parts: [body], left: head.length - body.length }
  }

  #collect(coming: IncompleteRequest, chunk: Buffer): void {
    const part = chunk.length > coming.left ? chunk.subarray(0, coming.left) : chunk
    coming.parts.push(part)
    coming.left -= part.length
    if (coming.left > 0) return
    this.#incomplete = undefined
    if (part !== chunk) this.#pipelined.push(chunk.subarray(part.length))
    this.#dispatch(coming.head, Buffer.concat(coming.parts))
  }

  #dispatch({ url, headers, rawHeaders, isLast }: FastRequestHead, body: Buffer): void {
    const { socket, keepAliveMs, onRequest } = this.#options
    const keepAlive = isLast ? 0 : Math.floor(keepAliveMs / 1000)
    const response = new FastResponse({ socket, keepAlive, onEnd: this.#onResponseEnd })
    this.#response = response
    onRequest({ method: 'POST', url, headers, rawHeaders, body }, response)
  }

  readonly #onResponseEnd = (isLast: boolean): void => {
    const { socket } = this.#options
    this.#response = undefined
    if (isLast) {
      socket.off('data', this.#onData)
      return socket.destroySoon()
    }
    if (this.#pipelined.length > 0) this.#handToNode(Buffer.concat(this.#pipelined))
    else if (socket.writableNeedDrain) socket.pause()
  }

  #queueEarly(chunk: Buffer): void {
    this.#pipelined.push(chunk)
    this.#options.socket.pause()
  }

  #handToNode(chunk: Buffer): void {
    const { socket, onOther } = this.#options
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('timeout', this.#onTimeout)
    socket.off('drain', this.#onDrain)
    socket.off('error', ignoreError)
    socket.off('close', this.#onClose)
    socket.setTimeout(0)
    socket.pause()
    socket.unshift(chunk)
    onOther(socket)
    socket.resume()
  }

  // As Node does: who will say no more is not answered any more.
  readonly #onEnd = (): void => void this.#options.socket.end()

  readonly #onTimeout = (): void => {
    const { socket } = this.#options
    const isIdle =
      this.#response === undefined && this.#incomplete === undefined && socket.writableLength === 0
    if (isIdle) socket.destroy()
  }

  readonly #onDrain = (): void => {
    if (this.#response !== undefined) return this.#response.drain()
    this.#options.socket.resume()
  }

  readonly #onClose = (): void => this.#response?.close()
}

// A request that is on its way when its time is over gets through.
const GRACE_MS = 1000
const BLANK_LINE = '\r\n\r\n'

function ignoreError(): void {} // a client that leaves is owed nothing

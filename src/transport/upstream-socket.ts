import type { Socket } from 'node:net'
import { ResponseReader } from '../http/client/response-reader.ts'
import type { HttpResponseHead } from './response-head.ts'
import { UpstreamResponse, type UpstreamConnection, type UpstreamRequest } from './upstream-request.ts'

export interface UpstreamSocketOptions {
  readonly maxHeadBytes: number
  /** How long it may wait for its next request. */
  readonly idleMs: number
  readonly onFree: (socket: UpstreamSocket) => void
  readonly onGone: (socket: UpstreamSocket) => void
}

/** A socket to a server, for one request after the other. Nothing is ever sent twice: what it takes down with it has failed. */
export class UpstreamSocket implements UpstreamConnection {
  readonly #socket: Socket
  readonly #options: UpstreamSocketOptions
  readonly #reader: ResponseReader
  #request: UpstreamRequest | undefined
  #response: UpstreamResponse | undefined
  #isKeptAlive = true
  #freeSince = 0
  #error: Error | undefined

  constructor(socket: Socket, options: UpstreamSocketOptions) {
    this.#socket = socket
    this.#options = options
    const onHead = (head: HttpResponseHead): void => this.#begin(head)
    const onBody = (bytes: Buffer): void => void this.#response?.emit('data', bytes)
    this.#reader = new ResponseReader({ onHead, onBody, onEnd: () => this.#finish() }, options.maxHeadBytes)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('drain', () => this.#request?.emit('drain'))
    socket.on('timeout', () => socket.destroy())
    socket.on('end', () => {
      if (!this.#reader.end()) socket.destroy()
    })
    socket.on('error', (error) => void (this.#error ??= error))
    socket.on('close', () => this.#onClose())
  }

  /** Whether it can carry another request. On a busy machine the request may come before the clock that should have closed it. */
  get isReusable(): boolean {
    return !this.#socket.destroyed && performance.now() - this.#freeSince < this.#options.idleMs
  }

  send(request: UpstreamRequest): void {
    this.#request = request
    request.attach(this)
    this.#reader.begin(request.method)
    this.#socket.setTimeout(0).ref() // how long an answer may take is for the server to say
  }

  write(data: string | Uint8Array, encoding?: 'latin1'): boolean {
    return this.#socket.write(data, encoding)
  }

  requestSent(): void {
    if (this.#response?.complete === true) this.#release()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.#error ??= error instanceof Error ? error : new Error(String(error))
      this.#socket.destroy()
    }
  }

  #begin(head: HttpResponseHead): void {
    this.#isKeptAlive = head.isKept
    this.#response = new UpstreamResponse(head, this)
    this.#request?.emit('response', this.#response)
  }

  /** A server may answer before it has read the request to its end; the socket is free when both are done. */
  #finish(): void {
    const [answer, request] = [this.#response, this.#request]
    if (answer === undefined || request === undefined) return
    answer.complete = true
    answer.emit('end')
    answer.emit('close')
    if (request.isEnded || !this.#isKeptAlive) this.#release()
  }

  #release(): void {
    const request = this.#request
    this.#request = this.#response = undefined
    if (this.#isKeptAlive && !this.#socket.destroyed) {
      this.#freeSince = performance.now()
      this.#socket.setTimeout(this.#options.idleMs).unref().resume()
      this.#options.onFree(this)
    } else this.#socket.destroy()
    request?.detach()
  }

  #onClose(): void {
    this.#options.onGone(this)
    const [answer, request] = [this.#response, this.#request]
    this.#request = this.#response = undefined
    if (request === undefined) return
    if (answer === undefined) request.emit('error', this.#error ?? hangUpError())
    else if (!answer.complete) answer.emit('close')
    request.detach()
  }
}

function hangUpError(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

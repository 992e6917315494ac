import type { Socket } from 'node:net'
import { ResponseReader } from './response-reader.ts'
import type { ResponseHead } from './response-head.ts'
import { UpstreamAnswer, type Carrier, type UpstreamRequest } from './upstream-request.ts'

export interface SocketOptions {
  readonly maxHeadBytes: number
  /** How long it may wait for its next request. */
  readonly idleMs: number
  readonly onFree: (socket: UpstreamSocket) => void
  readonly onGone: (socket: UpstreamSocket) => void
}

/** A socket to a server, for one request after the other. Nothing is ever sent twice: what it takes down with it has failed. */
export class UpstreamSocket implements Carrier {
  readonly #socket: Socket
  readonly #options: SocketOptions
  readonly #reader: ResponseReader
  #request: UpstreamRequest | undefined
  #answer: UpstreamAnswer | undefined
  #isKept = true
  #freeSince = 0
  #error: Error | undefined

  constructor(socket: Socket, options: SocketOptions) {
    this.#socket = socket
    this.#options = options
    const onHead = (head: ResponseHead): void => this.#begin(head)
    const onBody = (bytes: Buffer): void => void this.#answer?.emit('data', bytes)
    this.#reader = new ResponseReader({ onHead, onBody, onEnd: () => this.#finish() }, options.maxHeadBytes)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('drain', () => this.#request?.emit('drain'))
    socket.on('timeout', () => socket.destroy())
    socket.on('end', () => {
      if (!this.#reader.end()) socket.destroy()
    })
    socket.on('error', (error) => void (this.#error ??= error))
    socket.on('close', () => this.#gone())
  }

  /** Whether it can carry another request. On a busy machine the request may come before the clock that should have closed it. */
  get isFresh(): boolean {
    return !this.#socket.destroyed && performance.now() - this.#freeSince < this.#options.idleMs
  }

  carry(request: UpstreamRequest): void {
    this.#request = request
    request.attach(this)
    this.#reader.begin(request.method)
    this.#socket.setTimeout(0).ref() // how long an answer may take is for the server to say
  }

  write(data: string | Uint8Array, encoding?: 'latin1'): boolean {
    return this.#socket.write(data, encoding)
  }

  sent(): void {
    if (this.#answer?.complete === true) this.#release()
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

  #begin(head: ResponseHead): void {
    this.#isKept = head.isKept
    this.#answer = new UpstreamAnswer(head, this)
    this.#request?.emit('response', this.#answer)
  }

  /** A server may answer before it has read the request to its end; the socket is free when both are done. */
  #finish(): void {
    const [answer, request] = [this.#answer, this.#request]
    if (answer === undefined || request === undefined) return
    answer.complete = true
    answer.emit('end')
    answer.emit('close')
    if (request.isEnded || !this.#isKept) this.#release()
  }

  #release(): void {
    const request = this.#request
    this.#request = this.#answer = undefined
    if (this.#isKept && !this.#socket.destroyed) {
      this.#freeSince = performance.now()
      this.#socket.setTimeout(this.#options.idleMs).unref().resume()
      this.#options.onFree(this)
    } else this.#socket.destroy()
    request?.detach()
  }

  #gone(): void {
    this.#options.onGone(this)
    const [answer, request] = [this.#answer, this.#request]
    this.#request = this.#answer = undefined
    if (request === undefined) return
    if (answer === undefined) request.emit('error', this.#error ?? hangUp())
    else if (!answer.complete) answer.emit('close')
    request.detach()
  }
}

function hangUp(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

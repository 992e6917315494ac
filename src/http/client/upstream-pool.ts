import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { ResponseReader, type HttpResponseHead } from './response-reader.ts'
import { MAX_HEAD_BYTES, type RawHeaders } from '../headers.ts'

/** The sockets to one server; the last one that became free is the first to be used again. */
export class UpstreamPool {
  readonly #connect: () => Socket
  readonly #idleMs: number
  readonly #all = new Set<UpstreamSocket>()
  #free: UpstreamSocket[] = []

  constructor(dialServer: () => Socket, idleMs: number) {
    this.#connect = dialServer
    this.#idleMs = idleMs
  }

  acquire(): UpstreamSocket {
    const free = this.#free.pop()
    if (free === undefined) return this.#open()
    if (free.isReusable) return free
    free.destroy()
    return this.acquire()
  }

  close(): void {
    for (const socket of this.#all) socket.destroy()
  }

  #open(): UpstreamSocket {
    const socket = new UpstreamSocket(this.#connect(), {
      maxHeadBytes: MAX_HEAD_BYTES,
      idleMs: this.#idleMs,
      onFree: (free) => void this.#free.push(free),
      onGone: (gone) => this.#remove(gone),
    })
    this.#all.add(socket)
    return socket
  }

  #remove(gone: UpstreamSocket): void {
    this.#all.delete(gone)
    this.#free = this.#free.filter((each) => each !== gone)
  }
}

interface UpstreamSocketOptions {
  readonly maxHeadBytes: number
  /** How long it may wait for its next request. */
  readonly idleMs: number
  readonly onFree: (socket: UpstreamSocket) => void
  readonly onGone: (socket: UpstreamSocket) => void
}

/** A socket to a server, for one request after the other. Nothing is ever sent twice: what it takes down with it has failed. */
class UpstreamSocket implements UpstreamConnection {
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

export interface UpstreamRequestHead {
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
}

/** What carries a request: one socket to the server. */
interface UpstreamConnection {
  readonly write: (data: string | Uint8Array, encoding?: 'latin1') => boolean
  /** The request has been sent to its end. */
  readonly requestSent: () => void
  readonly pause: () => void
  readonly resume: () => void
  readonly destroy: () => void
}

/** A request to a server: like node's own, with only as much of it as a proxy needs (docs/decisions/0013). */
export class UpstreamRequest extends EventEmitter<{
  response: [answer: UpstreamResponse]
  error: [error: Error]
  drain: []
  close: []
}> {
  readonly method: string
  #connection: UpstreamConnection | undefined
  #head: string
  readonly #isChunked: boolean
  #isEnded = false

  /** Throws when the head cannot be written. */
  constructor(head: UpstreamRequestHead) {
    super()
    this.method = head.method
    this.#head = formatRequestHead(head)
    this.#isChunked = head.headers.some(
      (word, at) => at % 2 === 0 && word.toLowerCase() === 'transfer-encoding',
    )
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The head waits for this, and shares its packet. A text stands for its bytes, as Latin-1. */
  write(data: string | Uint8Array, _encoding?: 'latin1'): boolean {
    if (this.#connection === undefined) return true // nobody is there to read it
    if (this.#isChunked) return this.#writeChunk(data)
    if (typeof data === 'string') return this.#send(data)
    this.#send('')
    return this.#connection.write(data)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#send(this.#isChunked ? '0\r\n\r\n' : '')
    this.#connection?.requestSent()
  }

  destroy(): void {
    this.#connection?.destroy()
  }

  attach(carrier: UpstreamConnection): void {
    this.#connection = carrier
  }

  /** The socket has done its part, or is gone. */
  detach(): void {
    if (this.#connection === undefined) return
    this.#connection = undefined
    this.emit('close')
  }

  #writeChunk(data: string | Uint8Array): boolean {
    const size = `${data.length.toString(16)}\r\n`
    if (typeof data === 'string') return this.#send(`${size}${data}\r\n`)
    this.#send(size)
    this.#connection?.write(data)
    return this.#send('\r\n')
  }

  #send(text: string): boolean {
    const data = this.#head + text
    this.#head = ''
    return data === '' || this.#connection === undefined || this.#connection.write(data, 'latin1')
  }
}

/** The answer of the server, as its bytes come. */
export class UpstreamResponse extends EventEmitter<{
  data: [bytes: Buffer]
  end: []
  error: [error: Error]
  close: []
}> {
  readonly statusCode: number
  readonly statusMessage: string
  readonly rawHeaders: RawHeaders
  /** Whether it came to its end. */
  complete = false
  readonly #connection: UpstreamConnection

  constructor({ status, reason, headers }: HttpResponseHead, carrier: UpstreamConnection) {
    super()
    this.statusCode = status
    this.statusMessage = reason
    this.rawHeaders = headers
    this.#connection = carrier
  }

  pause(): void {
    if (!this.complete) this.#connection.pause()
  }

  resume(): void {
    if (!this.complete) this.#connection.resume()
  }
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const INVALID_PATH = /[^\x21-\x7e\x80-\xff]/
const INVALID_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** Throws on what would be read as something else than it is. */
function formatRequestHead({ method, path, headers }: UpstreamRequestHead): string {
  if (!TOKEN.test(method) || INVALID_PATH.test(path)) throw new Error('a request that cannot be written')
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    if (!TOKEN.test(name) || INVALID_VALUE.test(value))
      throw new Error(`the header ${JSON.stringify(name)} cannot be written`)
    text += `${name}: ${value}\r\n`
  }
  return `${text}\r\n`
}

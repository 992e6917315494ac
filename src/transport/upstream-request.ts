import { EventEmitter } from 'node:events'
import type { RawHeaders } from '../http/headers.ts'
import type { HttpResponseHead } from './response-head.ts'

export interface UpstreamRequestHead {
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
}

/** What carries a request: one socket to the server. */
export interface UpstreamConnection {
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

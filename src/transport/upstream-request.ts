import { EventEmitter } from 'node:events'
import type { RawHeaders } from './http-heads.ts'
import type { ResponseHead } from './response-head.ts'

export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
}

/** What carries a request: one socket to the server. */
export interface Carrier {
  readonly write: (data: string | Uint8Array, encoding?: 'latin1') => boolean
  /** The request has been sent to its end. */
  readonly sent: () => void
  readonly pause: () => void
  readonly resume: () => void
  readonly destroy: () => void
}

/** A request to a server: like node's own, with only as much of it as a proxy needs (docs/decisions/0013). */
export class UpstreamRequest extends EventEmitter<{
  response: [answer: UpstreamAnswer]
  error: [error: Error]
  drain: []
  close: []
}> {
  readonly method: string
  #carrier: Carrier | undefined
  #head: string
  readonly #isChunked: boolean
  #isEnded = false

  /** Throws when the head cannot be written. */
  constructor(head: RequestHead) {
    super()
    this.method = head.method
    this.#head = headText(head)
    this.#isChunked = head.headers.some(
      (word, at) => at % 2 === 0 && word.toLowerCase() === 'transfer-encoding',
    )
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The head waits for this, and shares its packet. A text stands for its bytes, as Latin-1. */
  write(data: string | Uint8Array, _encoding?: 'latin1'): boolean {
    if (this.#carrier === undefined) return true // nobody is there to read it
    if (this.#isChunked) return this.#writeChunk(data)
    if (typeof data === 'string') return this.#send(data)
    this.#send('')
    return this.#carrier.write(data)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#send(this.#isChunked ? '0\r\n\r\n' : '')
    this.#carrier?.sent()
  }

  destroy(): void {
    this.#carrier?.destroy()
  }

  attach(carrier: Carrier): void {
    this.#carrier = carrier
  }

  /** The socket has done its part, or is gone. */
  detach(): void {
    if (this.#carrier === undefined) return
    this.#carrier = undefined
    this.emit('close')
  }

  #writeChunk(data: string | Uint8Array): boolean {
    const size = `${data.length.toString(16)}\r\n`
    if (typeof data === 'string') return this.#send(`${size}${data}\r\n`)
    this.#send(size)
    this.#carrier?.write(data)
    return this.#send('\r\n')
  }

  #send(text: string): boolean {
    const data = this.#head + text
    this.#head = ''
    return data === '' || this.#carrier === undefined || this.#carrier.write(data, 'latin1')
  }
}

/** The answer of the server, as its bytes come. */
export class UpstreamAnswer extends EventEmitter<{
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
  readonly #carrier: Carrier

  constructor({ status, reason, headers }: ResponseHead, carrier: Carrier) {
    super()
    this.statusCode = status
    this.statusMessage = reason
    this.rawHeaders = headers
    this.#carrier = carrier
  }

  pause(): void {
    if (!this.complete) this.#carrier.pause()
  }

  resume(): void {
    if (!this.complete) this.#carrier.resume()
  }
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const NO_PATH = /[^\x21-\x7e\x80-\xff]/
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** Throws on what would be read as something else than it is. */
function headText({ method, path, headers }: RequestHead): string {
  if (!TOKEN.test(method) || NO_PATH.test(path)) throw new Error('a request that cannot be written')
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    if (!TOKEN.test(name) || NO_VALUE.test(value))
      throw new Error(`the header ${JSON.stringify(name)} cannot be written`)
    text += `${name}: ${value}\r\n`
  }
  return `${text}\r\n`
}

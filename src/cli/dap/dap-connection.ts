import type { Readable, Writable } from 'node:stream'
import { isObject, member, parseJson, type JsonObject } from '../../json/parse.ts'

/** A request of an editor. */
export interface DapRequest {
  readonly seq: number
  readonly command: string
  readonly arguments: JsonObject
}

interface DapConnectionOptions {
  readonly input: Readable
  readonly output: Writable
  readonly onRequest: (request: DapRequest) => void
  /** Called once, when the editor is gone or has sent something else than the protocol. */
  readonly onEnd: (why: string | undefined) => void
}

/** Reads and writes messages of the Debug Adapter Protocol: JSON after a header with its length. */
export class DapConnection {
  readonly #options: DapConnectionOptions
  #received: Buffer = Buffer.alloc(0)
  #seq = 0
  #isEnded = false

  constructor(options: DapConnectionOptions) {
    this.#options = options
    options.input.on('data', (chunk: Buffer) => this.#receive(chunk))
    options.input.on('end', () => this.#end(undefined))
    options.input.on('error', () => this.#end(undefined))
    options.output.on('error', () => this.#end(undefined)) // the editor is gone
  }

  event(event: string, body: object = {}): void {
    this.#write({ type: 'event', event, body })
  }

  respond({ seq, command }: DapRequest, body: object = {}): void {
    this.#write({ type: 'response', request_seq: seq, command, success: true, body })
  }

  refuse({ seq, command }: DapRequest, message: string): void {
    const error = { id: 1, format: message.replaceAll(/[{}]/g, ''), showUser: true }
    this.#write({ type: 'response', request_seq: seq, command, success: false, message, body: { error } })
  }

  #write(message: object): void {
    if (this.#isEnded) return
    const text = JSON.stringify({ seq: ++this.#seq, ...message })
    this.#options.output.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    while (!this.#isEnded) {
      const end = this.#received.indexOf('\r\n\r\n')
      if (end < 0) {
        if (this.#received.length > MAX_HEADER_BYTES) this.#end('the header of a message is too long')
        return
      }
      const length = contentLength(this.#received.toString('latin1', 0, end))
      if (length === undefined) return this.#end('the header is not one of the Debug Adapter Protocol')
      if (length > MAX_MESSAGE_BYTES) return this.#end('a message is too long')
      const start = end + HEADER_END_BYTES
      if (this.#received.length < start + length) return
      const text = this.#received.toString('utf8', start, start + length)
      this.#received = this.#received.subarray(start + length)
      this.#handle(parseJson(text))
    }
  }

  #handle(message: unknown): void {
    const [seq, command] = [member(message, 'seq'), member(message, 'command')]
    const given = member(message, 'arguments')
    if (typeof seq !== 'number' || typeof command !== 'string') return // a response, or not a message at all
    this.#options.onRequest({ seq, command, arguments: isObject(given) ? given : {} })
  }

  #end(why: string | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#options.onEnd(why)
  }
}

const HEADER_END_BYTES = 4
const MAX_HEADER_BYTES = 4096
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

/**
 * Reads the header of a message. Anything else in the header is refused: a web page could otherwise send messages to a port
 * inside of an HTTP request.
 */
function contentLength(header: string): number | undefined {
  let length: number | undefined
  for (const line of header.split('\r\n')) {
    const [, name = '', value = ''] = /^([\w-]+): *(.*)$/.exec(line) ?? []
    if (name.toLowerCase() === 'content-length' && /^\d{1,9}$/.test(value)) length = Number(value)
    else if (name.toLowerCase() !== 'content-type') return undefined
  }
  return length
}

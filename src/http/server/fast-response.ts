import type { Socket } from 'node:net'
import type { ServedResponse } from './served-exchange.ts'
import {
  formatResponseHead,
  type ResponseHeaderValues,
  type FormattedResponseHead,
} from '../../transport/http1/written-head.ts'

export interface FastResponseOptions {
  readonly socket: Socket
  /** For how many seconds the connection is kept when nothing goes over it; 0 when it is not. */
  readonly keepAlive: number
  /** Told when everything is handed over to the socket. */
  readonly onEnd: (isLast: boolean) => void
}

/** The answer to a request that we read ourselves, written as Node would write it. */
export class FastResponse implements ServedResponse {
  readonly #options: FastResponseOptions
  #onClose: (() => void)[] | undefined
  #onDrain: (() => void)[] | undefined
  #head: FormattedResponseHead | undefined
  #state: 'waiting' | 'streaming' | 'ended' = 'waiting'
  #isClosed = false

  constructor(options: FastResponseOptions) {
    this.#options = options
  }

  get destroyed(): boolean {
    return this.#isClosed
  }

  get headersSent(): boolean {
    return this.#head !== undefined
  }

  get writableEnded(): boolean {
    return this.#state === 'ended'
  }

  get writableNeedDrain(): boolean {
    return this.#options.socket.writableNeedDrain
  }

  writeHead(status: number, headers: ResponseHeaderValues = {}): this {
    this.#head = formatResponseHead(status, headers, this.#options.keepAlive)
    return this
  }

  /** Begins a stream. What is written in the same moment leaves in one piece. */
  flushHeaders(): void {
    const { socket } = this.#options
    socket.cork()
    process.nextTick(() => socket.uncork())
    socket.write(this.#takeHead())
  }

  write(text: string): boolean {
    return this.#options.socket.write(this.#takeHead() + encodeChunk(text))
  }

  end(body = ''): void {
    if (this.#state === 'ended') return
    const { socket, onEnd } = this.#options
    const head = this.#takeHead()
    this.#state = 'ended'
    socket.write(this.#head?.hasLength === true ? head + body : head + encodeChunk(body) + LAST_CHUNK)
    if (this.#onClose !== undefined) this.#closeLater()
    onEnd(this.#head?.closesConnection === true)
  }

  /** Breaks off: what was written before leaves, and nothing more. */
  destroy(): void {
    const { socket } = this.#options
    socket.uncork()
    socket.destroy()
  }

  on(event: 'close' | 'drain', action: () => void): void {
    if (event === 'drain') return void (this.#onDrain ??= []).push(action)
    if (this.#onClose === undefined && this.writableEnded) this.#closeLater()
    this.#onClose = [...(this.#onClose ?? []), action]
  }

  /** The client has everything, or is gone. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const action of this.#onClose ?? []) action()
  }

  /** The client has taken what was written. */
  drain(): void {
    for (const action of this.#onDrain ?? []) action()
  }

  #closeLater(): void {
    queueMicrotask(() => this.close())
  }

  /** The head, if it is still to be sent. */
  #takeHead(): string {
    if (this.#state !== 'waiting') return ''
    if (this.#head === undefined) this.writeHead(200)
    this.#state = 'streaming'
    return this.#head?.text ?? ''
  }
}

const LAST_CHUNK = '0\r\n\r\n'

// A chunk of nothing would be the last.
function encodeChunk(text: string): string {
  return text === '' ? '' : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

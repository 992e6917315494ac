import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import type { ServedResponse } from './http-server.ts'

interface FastResponseOptions {
  readonly socket: Socket
  /** How many seconds an idle connection is kept; 0 to close it after the response. */
  readonly keepAlive: number
  /** Called when everything was written to the socket. */
  readonly onEnd: (isLast: boolean) => void
}

/** The response to a request that the fast listener has read, with the same bytes that Node would write. */
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

  /** Starts a stream. Everything that is written in the same tick is sent in one piece. */
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

  /** Closes the connection after sending what was already written. */
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

  /** Called when the client has received everything, or has disconnected. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const action of this.#onClose ?? []) action()
  }

  /** Called when the client has received what was written. */
  drain(): void {
    for (const action of this.#onDrain ?? []) action()
  }

  #closeLater(): void {
    queueMicrotask(() => this.close())
  }

  /** Returns the head, or an empty text if it was already sent. */
  #takeHead(): string {
    if (this.#state !== 'waiting') return ''
    if (this.#head === undefined) this.writeHead(200)
    this.#state = 'streaming'
    return this.#head?.text ?? ''
  }
}

const LAST_CHUNK = '0\r\n\r\n'

// An empty chunk would end the body.
function encodeChunk(text: string): string {
  return text === '' ? '' : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

type ResponseHeaderValues = Readonly<Record<string, string | number>>

/** The head of a response, and how its body is framed. */
interface FormattedResponseHead {
  readonly text: string
  /** Whether the head contains the length of the body. Otherwise the body is chunked. */
  readonly hasLength: boolean
  /** Whether the connection is closed after the response. */
  readonly closesConnection: boolean
}

/** Formats a head like Node does. */
function formatResponseHead(
  status: number,
  headers: ResponseHeaderValues,
  keepAlive: number,
): FormattedResponseHead {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  let given = 0
  let closesConnection = keepAlive === 0
  for (const name in headers) {
    const value = String(headers[name])
    const meaning = headerFlag(name)
    validateHeaderValue(name, value)
    text += `${name}: ${value}\r\n`
    given |= meaning
    if (meaning === CONNECTION) closesConnection ||= /\bclose\b/i.test(value)
  }
  const hasLength = (given & LENGTH) !== 0
  const encoding = hasLength || (given & ENCODING) !== 0 ? '' : 'Transfer-Encoding: chunked\r\n'
  return {
    text: `${text}${defaultLines(given, keepAlive)}${encoding}\r\n`,
    hasLength,
    closesConnection,
  }
}

const [DATE, CONNECTION, LENGTH, ENCODING] = [1, 2, 4, 8]
const HEADER_FLAGS: ReadonlyMap<string, number> = new Map([
  ['date', DATE],
  ['connection', CONNECTION],
  ['content-length', LENGTH],
  ['transfer-encoding', ENCODING],
])
const knownFlags = new Map<string, number>()

/** Validates each name only once, because there are few. */
function headerFlag(name: string): number {
  const found = knownFlags.get(name)
  if (found !== undefined) return found
  validateHeaderName(name)
  const meaning = HEADER_FLAGS.get(name.toLowerCase()) ?? 0
  knownFlags.set(name, meaning)
  return meaning
}

/** The lines for headers that were not given. */
function defaultLines(given: number, keepAlive: number): string {
  if ((given & (DATE | CONNECTION)) === 0) return cachedDefaultLines(keepAlive)
  return `${(given & DATE) === 0 ? dateLine() : ''}${(given & CONNECTION) === 0 ? connectionLines(keepAlive) : ''}`
}

let cachedLines = { keepAlive: 0, date: '', lines: '' }

/** Cached, because these lines change only once per second. */
function cachedDefaultLines(keepAlive: number): string {
  const date = httpDate()
  if (cachedLines.date !== date || cachedLines.keepAlive !== keepAlive)
    cachedLines = { keepAlive, date, lines: dateLine() + connectionLines(keepAlive) }
  return cachedLines.lines
}

function dateLine(): string {
  return `Date: ${httpDate()}\r\n`
}

function connectionLines(keepAlive: number): string {
  if (keepAlive === 0) return 'Connection: close\r\n'
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAlive}\r\n`
}

let cachedSecond = 0
let cachedDate = ''

/** The current time in the format of HTTP. */
function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== cachedSecond) {
    cachedSecond = now
    cachedDate = new Date(now * 1000).toUTCString()
  }
  return cachedDate
}

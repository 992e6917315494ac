import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { RawHeaders } from '../headers.ts'
import { FastResponse } from './fast-response.ts'
import { closeIfSilent, headProblem, type FastRequest } from './http-server.ts'

type FastHandler = (req: FastRequest, res: FastResponse) => void

interface FastListenerOptions {
  /** False for a proxy, which forwards a long body as it arrives: Node then reads all requests that are longer than a packet. Default: true. */
  readonly collectsBodies?: boolean
}

/** Reads simple POST requests directly from the socket, which takes half as long as with Node. Node reads all others. */
export class FastListener {
  readonly #open = new Set<Socket>()

  constructor(server: Server, onRequest: FastHandler, { collectsBodies = true }: FastListenerOptions = {}) {
    const heads = new FastHeadCache()
    const nodes = server.listeners('connection')
    const keepAliveMs = server.keepAliveTimeout
    const onOther = (socket: Socket): void => {
      this.#open.delete(socket)
      for (const accept of nodes) Reflect.apply(accept, server, [socket])
    }
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.on('close', () => this.#open.delete(socket))
      void new FastConnection({ socket, heads, onRequest, onOther, keepAliveMs, collectsBodies })
    })
  }

  /** Closes the connections that Node does not know about. */
  close(): void {
    for (const socket of this.#open) socket.destroy()
  }
}

interface FastConnectionOptions {
  readonly socket: Socket
  readonly heads: FastHeadCache
  readonly onRequest: FastHandler
  /** Takes over a connection after any other request. The bytes of the request are still in the socket. */
  readonly onOther: (socket: Socket) => void
  /** How long an idle connection is kept, in milliseconds. */
  readonly keepAliveMs: number
  readonly collectsBodies: boolean
}

/** A request whose body has not arrived completely. */
interface IncompleteRequest {
  readonly head: FastRequestHead
  readonly parts: Buffer[]
  left: number
}

/**
 * One connection, for as long as it carries simple requests, one after the other. The first other request hands the
 * connection over to Node.
 */
class FastConnection {
  readonly #options: FastConnectionOptions
  #incomplete: IncompleteRequest | undefined
  #response: FastResponse | undefined
  /** Bytes that arrived before the response to the last request was complete. */
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
    if (body.length > head.length || !this.#options.collectsBodies) return this.#handToNode(chunk)
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

  /** Reads on for a while, because only then it is noticed that the client has disconnected. */
  #queueEarly(chunk: Buffer): void {
    this.#pipelined.push(chunk)
    if (this.#pipelined.length >= MAX_EARLY_CHUNKS) this.#options.socket.pause()
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

  // Like Node, sends no more responses to a client that has closed its side.
  readonly #onEnd = (): void => void this.#options.socket.end()

  readonly #onTimeout = (): void => {
    const { socket } = this.#options
    const isIdle =
      this.#response === undefined && this.#incomplete === undefined && socket.writableLength === 0
    if (isIdle) closeIfSilent(socket)
  }

  readonly #onDrain = (): void => {
    if (this.#response !== undefined) return this.#response.drain()
    this.#options.socket.resume()
  }

  readonly #onClose = (): void => this.#response?.close()
}

// Time for a request that was sent just before the timeout.
const GRACE_MS = 1000
const MAX_EARLY_CHUNKS = 8
const BLANK_LINE = '\r\n\r\n'

function ignoreError(): void {} // the client has disconnected

/** The head of a POST with a body of known length. */
interface FastRequestHead {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawHeaders: RawHeaders
  /** The length of the body in bytes. */
  readonly length: number
  /** Whether the client wants the connection to be closed after the response. */
  readonly isLast: boolean
}

const MAX_CACHED_HEADS = 256
const MAX_HEAD_LENGTH = 8 * 1024

/** Parses request heads. Clients send the same heads again and again, so the results are cached. */
export class FastHeadCache {
  readonly #known = new Map<string, FastRequestHead>()

  /** `text` is the head without the blank line at its end. */
  read(text: string): FastRequestHead | undefined {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const head = text.length > MAX_HEAD_LENGTH ? undefined : parseFastHead(text)
    if (head !== undefined) this.#remember(text, head)
    return head
  }

  #remember(text: string, head: FastRequestHead): void {
    if (this.#known.size >= MAX_CACHED_HEADS) this.#known.clear()
    this.#known.set(text, head)
  }
}

/**
 * Parses a head in the one form that nearly all clients send. Returns undefined for every other form, valid or not, which
 * is left to Node's parser. Everything that is accepted here would be accepted by Node too.
 */
export function parseFastHead(text: string): FastRequestHead | undefined {
  const [first = '', ...lines] = text.split('\r\n')
  const url = REQUEST_LINE.exec(first)?.[1]
  if (url === undefined || lines.length > MAX_HEADER_LINES) return undefined
  const headers: Record<string, string> = Object.create(null)
  const rawHeaders: string[] = []
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? []
    const key = name.toLowerCase()
    if (!isSimpleHeader(key, value) || key in headers) return undefined
    headers[key] = value
    rawHeaders.push(name, value)
  }
  const { 'content-length': length, host, connection = 'keep-alive' } = headers
  if (length === undefined || host === undefined || headProblem({ httpVersion: '1.1', rawHeaders }))
    return undefined
  return { url, headers, rawHeaders, length: Number(length), isLast: connection.toLowerCase() === 'close' }
}

const REQUEST_LINE = /^POST (\/[\w\-.~!$&'()*+,;=:@%/?]*) HTTP\/1\.1$/
const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*((?:[!-~](?:[ -~]*[!-~])?)?)[ \t]*$/
const MAX_HEADER_LINES = 64

// Headers that change how the body is read, or how the connection is used.
const HOP_HEADERS = new Set(['expect', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** A line that could not be parsed has an empty name. */
function isSimpleHeader(key: string, value: string): boolean {
  if (key === 'content-length') return CONTENT_LENGTH.test(value)
  if (key === 'connection') return /^(?:keep-alive|close)$/i.test(value)
  return key !== '' && !HOP_HEADERS.has(key)
}

const CONTENT_LENGTH = /^(?:0|[1-9]\d{0,6})$/

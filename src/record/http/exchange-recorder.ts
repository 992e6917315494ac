import { type RawHeaders, findHeader } from '../../http/headers.ts'
import type { ExchangeGate, ExchangeWatcher, RequestLine } from '../../http/proxy/proxied-exchange.ts'
import type { Direction } from '../../protocol/message.ts'
import { BoundedBytes } from '../../protocol/sse.ts'
import { encodeSse } from '../../tape/codec.ts'
import type { HeldMarks, InterceptedLink, MessageInterceptor } from '../intercept/link-interceptor.ts'
import { BodyRecorder, ignoredBody, type MessageTaker } from './bodies.ts'
import { exchangeGate, isJsonType } from './exchange-gate.ts'
import { type BodySink, ExchangeFrames } from './exchange-frames.ts'
import type { MessageOrigin, MessageFilter } from '../message-filter.ts'
import type { RecordingSummary, TapeLog } from '../tape-log.ts'

interface ExchangeRecorderOptions {
  readonly log: TapeLog
  /** The name of the server on the tape. */
  readonly server: (line?: RequestLine) => string | undefined
  /** The MCP server. It is undefined behind a forward proxy, where the client names a server with each request. */
  readonly url?: URL
  readonly maxBytes: number
  readonly filter?: MessageFilter | undefined
  readonly cutBytes?: number | undefined
  /** Called when a server responds with status 401. */
  readonly onChallenge?: (() => void) | undefined
  /** Holds messages, if the user wants that. */
  readonly interceptor?: MessageInterceptor | undefined
  readonly taker?: MessageTaker | undefined
}

/** Records HTTP exchanges. */
export class ExchangeRecorder {
  readonly #options: ExchangeRecorderOptions
  readonly #frames: ExchangeFrames
  readonly #bodies: BodyRecorder
  readonly #connections: ConnectionNumbers
  readonly #links = new Map<number, InterceptedLink>()
  #exchanges: number
  #reserved: ReservedExchange | undefined

  #refused = 0

  constructor(options: ExchangeRecorderOptions) {
    this.#options = options
    this.#connections = new ConnectionNumbers(options.log.continued.connections)
    this.#exchanges = options.log.continued.exchanges
    this.#frames = new ExchangeFrames(options.log, options)
    this.#bodies = new BodyRecorder(this.#frames, options)
    const { interceptor, log } = options
    if (interceptor !== undefined) log.followTapes((tape) => interceptor.useTape?.(tape))
  }

  /** Starts to record an exchange. */
  readonly watch = (line: RequestLine): ExchangeWatcher => {
    const { conn = this.#connections.numberFor(line), x = ++this.#exchanges } = this.#reserved ?? {}
    this.#reserved = undefined
    const place = `${this.#server(line)},"conn":${conn},"x":${x}`
    return this.#watcher(line, { conn, place, scope: `${conn} ${this.#options.server(line)} ` })
  }

  /** Reserves the numbers of an exchange that begins later, or never. */
  reserve(): ReservedExchange {
    return { conn: this.#connections.likelyNext(), x: ++this.#exchanges }
  }

  /** The next exchange has these numbers. */
  useReserved(reserved: ReservedExchange | undefined): void {
    this.#reserved = reserved
  }

  /** Writes a message of an exchange that was held. Returns the number of its frame. */
  heldMessage(
    { conn, x }: ReservedExchange,
    dir: Direction,
    text: string,
    marks: HeldMarks,
  ): number | undefined {
    if (dir === 'c2s' && this.#options.filter?.keepsRequest(text) === false) return undefined
    const place = `${this.#server()},"conn":${conn},"x":${x},"dir":"${dir}"`
    return this.#frames.heldMessage(place, text, marks)
  }

  /** Records that the proxy rejected a request. Only the first ones are kept: anybody on this machine can cause them. */
  readonly refused = (why: string): void => {
    if (++this.#refused <= MAX_REFUSED) this.event('refused', { why: why.slice(0, MAX_REASON_LENGTH) })
  }

  /** Records an event that belongs to no exchange. */
  event(event: string, details: Readonly<Record<string, unknown>>, line?: RequestLine): void {
    this.#frames.event(this.#server(line), event, details)
  }

  get log(): TapeLog {
    return this.#options.log
  }

  /** Writes now what would wait for the end of this round of the event loop. */
  readonly settle = (): void => this.#frames.settle()

  /** Waits for bodies that are still being decoded, and finishes the tape. `members` are added to its end frame. */
  async finish(members = ''): Promise<RecordingSummary> {
    while (this.#bodies.decoding.size > 0) await Promise.all(this.#bodies.decoding)
    this.#frames.settle()
    return this.#options.log.finish(members)
  }

  #server(line?: RequestLine): string {
    const name = this.#options.server(line)
    return name === undefined ? '' : `,"server":${JSON.stringify(name)}`
  }

  #watcher(line: RequestLine, origin: ExchangeOrigin): ExchangeWatcher {
    const { place } = origin
    const isRecorded = this.#isRecorded(line.path)
    const request = this.#request(line, origin, isRecorded)
    let response = ignoredBody
    return {
      request,
      gate: isRecorded ? this.#gate(line, origin, request) : undefined,
      answered: (status, headers) => {
        this.#answered(origin, status, headers)
        if (!this.#connections.isLasting(line, headers)) this.#links.delete(origin.conn)
        if (isRecorded) response = this.#body('s2c', line, origin, headers)
        return response
      },
      aborted: (by, why) => {
        request.cut()
        response.cut()
        this.#frames.event(place, 'abort', why === undefined ? { by } : { by, why })
      },
      unreachable: (why) => {
        request.cut()
        this.#frames.event(place, 'unreachable', { why })
      },
    }
  }

  #gate(line: RequestLine, origin: ExchangeOrigin, request: BodySink): ExchangeGate | undefined {
    const link = this.#link(origin.conn, line)
    const isMessage = line.method === 'GET' || (line.method === 'POST' && isJsonType(line.headers))
    if (link === undefined || !isMessage) return undefined
    const { filter } = this.#options
    const { place } = origin
    return exchangeGate({
      line,
      link,
      request,
      record: (dir, text, marks, sse) =>
        filter?.keeps(dir, text, origin) === false
          ? undefined
          : this.#frames.heldMessage(`${place},"dir":"${dir}"${encodeSse(sse)}`, text, marks),
      event: (event, details) => this.#frames.event(place, event, details),
      ownHead: (status, headers) => this.#frames.responseHead(place, status, headers, 'client'),
    })
  }

  /** The connections whose messages may be held. Old ones are forgotten, and without a session each exchange is one. */
  #link(conn: number, line: RequestLine): InterceptedLink | undefined {
    const { interceptor, server } = this.#options
    if (interceptor === undefined) return undefined
    const link = this.#links.get(conn) ?? interceptor.link({ server: server(line) ?? '', conn: () => conn })
    this.#links.delete(conn)
    this.#links.set(conn, link)
    for (const oldest of this.#links.keys()) {
      if (this.#links.size <= MAX_LINKS) break
      this.#links.delete(oldest)
    }
    return link
  }

  #request(line: RequestLine, origin: ExchangeOrigin, isRecorded: boolean): BodySink {
    const { log, maxBytes } = this.#options
    const { redactor } = log
    const body = isRecorded ? this.#body('c2s', line, origin, line.headers) : ignoredBody
    const writeHead = (): void => this.#frames.requestHead(origin.place, line)
    if (redactor !== undefined && hasMirroredParams(line.headers))
      return withDeferredHead(body, {
        writeHead,
        maxBytes,
        learn: (text) => log.guard(() => void redactor.text(text)),
      })
    writeHead()
    return body
  }

  #answered({ conn, place }: ExchangeOrigin, status: number, headers: RawHeaders): void {
    this.#connections.learnSession(conn, headers)
    if (status === UNAUTHORIZED) this.#options.onChallenge?.()
    this.#frames.responseHead(place, status, headers)
  }

  #body(dir: Direction, line: RequestLine, origin: ExchangeOrigin, headers: RawHeaders): BodySink {
    const onEndpoint = (data: string): void => this.#endpoint(line, origin.conn, data)
    return this.#bodies.begin({ dir, headers, origin, onEndpoint })
  }

  #endpoint(line: RequestLine, conn: number, data: string): void {
    const address = endpointAddress(data, line, this.#options.url)
    if (address === undefined) return
    this.#options.log.redactor?.learnUrl(data)
    this.#connections.learnEndpoint(conn, address)
  }

  /** Bodies of other paths of the server are not recorded, because tokens are fetched there. */
  #isRecorded(path: string): boolean {
    const { url } = this.#options
    return url === undefined || isServerPath(url, path) || this.#connections.isEndpoint(path)
  }
}

const MAX_REFUSED = 100
const MAX_LINKS = 1000
const MAX_REASON_LENGTH = 300
const UNAUTHORIZED = 401

/** The numbers of an exchange on the tape. */
export interface ReservedExchange {
  readonly conn: number
  readonly x: number
}

/** The place of the frames of one exchange on the tape. */
interface ExchangeOrigin extends MessageOrigin {
  readonly conn: number
}

/**
 * Numbers the connections that HTTP exchanges belong to. A session is one connection; it is named by its header, or by the
 * endpoint of an HTTP+SSE stream. Without a session each exchange is a separate connection, because ids may repeat.
 */
class ConnectionNumbers {
  readonly #sessions = new Map<string, number>()
  readonly #endpoints = new Map<string, number>()
  #last: number

  /** `last` is the number of the last connection that is on the tape already. */
  constructor(last: number) {
    this.#last = last
  }

  numberFor({ path, headers, origin = '' }: RequestLine): number {
    const session = findHeader(headers, SESSION_HEADER)
    const known = session === undefined ? this.#endpoints.get(origin + path) : this.#sessions.get(session)
    if (known !== undefined) return known
    const conn = ++this.#last
    if (session !== undefined) this.#sessions.set(session, conn)
    return conn
  }

  /** The connection of the session, or a new one. */
  likelyNext(): number {
    const known = [...this.#sessions.values(), ...this.#endpoints.values()].at(-1)
    return known ?? ++this.#last
  }

  /** Takes the session from the head of a response. */
  learnSession(conn: number, headers: RawHeaders): void {
    const session = findHeader(headers, SESSION_HEADER)
    if (session !== undefined && !this.#sessions.has(session)) this.#sessions.set(session, conn)
  }

  /** Takes the endpoint of an HTTP+SSE stream; with its origin, if the client names a server with each request. */
  learnEndpoint(conn: number, path: string): void {
    this.#endpoints.set(path, conn)
  }

  /** Whether further exchanges may belong to the connection of this one. A stream may still name an endpoint. */
  isLasting({ method, path, headers, origin = '' }: RequestLine, response: RawHeaders): boolean {
    if (method !== 'POST' || findHeader(response, SESSION_HEADER) !== undefined) return true
    return findHeader(headers, SESSION_HEADER) !== undefined || this.#endpoints.has(origin + path)
  }

  isEndpoint(path: string): boolean {
    return this.#endpoints.has(path)
  }
}

const SESSION_HEADER = 'mcp-session-id'

/** Whether a path is the path of the server, or below it. */
function isServerPath({ pathname }: URL, path: string): boolean {
  const query = path.indexOf('?')
  const name = query < 0 ? path : path.slice(0, query)
  const isBelow = pathname !== '/' && name.startsWith(pathname.endsWith('/') ? pathname : `${pathname}/`)
  return name === pathname || isBelow
}

/**
 * The address that the client of an HTTP+SSE stream will post to, as its requests will name it: with the origin, if the client
 * names a server with each request. Returns undefined if the endpoint is not a URL.
 */
function endpointAddress(
  data: string,
  { path, origin }: RequestLine,
  server: URL | undefined,
): string | undefined {
  const base = `${origin ?? server?.origin}${path}`
  if (!URL.canParse(data, base)) return undefined
  const named = new URL(data, base)
  const address = named.pathname + named.search
  return origin === undefined ? address : named.origin + address
}

/** Whether a head repeats arguments of its body. The names of these headers need not show that a value is secret. */
function hasMirroredParams(headers: RawHeaders): boolean {
  return headers.some((name, at) => at % 2 === 0 && name.toLowerCase().startsWith('mcp-param-'))
}

interface DeferredHead {
  /** Learns secrets from the body, whose field names show them. */
  readonly learn: (text: string) => void
  readonly writeHead: () => void
  readonly maxBytes: number
}

/** Makes the head of a request wait until its body is known. It is still written before the body. */
function withDeferredHead(body: BodySink, { learn, writeHead, maxBytes }: DeferredHead): BodySink {
  const seen = new BoundedBytes(maxBytes)
  let isWaiting = true
  const put = (): void => {
    if (isWaiting) writeHead()
    isWaiting = false
  }
  const { decoded } = body
  const chunkTo = (sink: BodySink) => (bytes: Uint8Array) => {
    seen.add(bytes)
    sink.chunk(bytes)
  }
  return {
    ...(decoded && { decoded: { ...decoded, chunk: chunkTo(decoded) } }),
    chunk: chunkTo(body),
    end: () => {
      if (isWaiting) learn(Buffer.concat(seen.parts).toString())
      put()
      body.end()
    },
    cut: () => {
      put()
      body.cut()
    },
  }
}

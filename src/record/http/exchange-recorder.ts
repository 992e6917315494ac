import { type RawHeaders, findHeader } from '../../http/headers.ts'
import type { ExchangeWatcher, RequestLine } from '../../http/proxy/proxied-exchange.ts'
import type { Direction } from '../../protocol/message.ts'
import { BoundedBytes } from '../../protocol/sse.ts'
import { ignoredBody, type BodySink } from './bodies.ts'
import { BodyRecorder } from './body-recorder.ts'
import { ExchangeFrames } from './exchange-frames.ts'
import type { MessageOrigin, MessageFilter } from '../message-filter.ts'
import type { RecordingSummary, TapeLog } from '../tape-log.ts'

interface ExchangeRecorderOptions {
  readonly log: TapeLog
  /** What the server is called on the tape. */
  readonly server: (line?: RequestLine) => string | undefined
  /** The server, when there is only one. Without it the client names one with each request, and every body that can be told from a secret is taped. */
  readonly url?: URL
  readonly maxBytes: number
  readonly look?: MessageFilter | undefined
  readonly cutBytes?: number | undefined
  /** Told when a server wants to know who asks. */
  readonly onChallenge?: (() => void) | undefined
}

/** The part of a tape that an HTTP proxy writes. */
export class ExchangeRecorder {
  readonly #options: ExchangeRecorderOptions
  readonly #frames: ExchangeFrames
  readonly #bodies: BodyRecorder
  readonly #connections = new ConnectionNumbers()
  #exchanges = 0

  constructor(options: ExchangeRecorderOptions) {
    this.#options = options
    this.#frames = new ExchangeFrames(options.log, options)
    this.#bodies = new BodyRecorder(this.#frames, options)
  }

  /** Looks on at one exchange. */
  readonly watch = (line: RequestLine): ExchangeWatcher => {
    const conn = this.#connections.numberFor(line)
    const x = ++this.#exchanges
    const place = `${this.#server(line)},"conn":${conn},"x":${x}`
    return this.#watcher(line, { conn, place, scope: `${conn} ${this.#options.server(line)} ` })
  }

  /** A request that was not let through. */
  readonly refused = (why: string): void => {
    this.event('refused', { why })
  }

  /** Something that belongs to no exchange. */
  event(event: string, details: Readonly<Record<string, unknown>>, line?: RequestLine): void {
    this.#frames.event(this.#server(line), event, details)
  }

  get log(): TapeLog {
    return this.#options.log
  }

  /** Puts on the tape now what would wait for the end of this round. */
  readonly settle = (): void => this.#frames.settle()

  /** Waits for what is still being decoded, and finishes the tape, with these further members of its end; may be called twice. */
  async finish(members = ''): Promise<RecordingSummary> {
    while (this.#bodies.decoding.size > 0) await Promise.all(this.#bodies.decoding)
    this.#frames.settle()
    return this.#options.log.finish(members)
  }

  #server(line?: RequestLine): string {
    const name = this.#options.server(line)
    return name === undefined ? '' : `,"server":${JSON.stringify(name)}`
  }

  #watcher(line: RequestLine, link: ExchangeOrigin): ExchangeWatcher {
    const { place } = link
    const isTaped = this.#isRecorded(line.path)
    const request = this.#request(line, link, isTaped)
    let answer = ignoredBody
    return {
      request,
      answered: (status, headers) => {
        this.#answered(link, status, headers)
        if (isTaped) answer = this.#body('s2c', line, link, headers)
        return answer
      },
      aborted: (by, why) => {
        request.cut()
        answer.cut()
        this.#frames.event(place, 'abort', why === undefined ? { by } : { by, why })
      },
      unreachable: (why) => {
        request.cut()
        this.#frames.event(place, 'unreachable', { why })
      },
    }
  }

  #request(line: RequestLine, link: ExchangeOrigin, isTaped: boolean): BodySink {
    const { log, maxBytes } = this.#options
    const { redactor } = log
    const body = isTaped ? this.#body('c2s', line, link, line.headers) : ignoredBody
    const putHead = (): void => this.#frames.requestHead(link.place, line)
    if (redactor !== undefined && hasMirroredParams(line.headers))
      return withDeferredHead(body, {
        putHead,
        maxBytes,
        learn: (text) => log.guard(() => void redactor.text(text)),
      })
    putHead()
    return body
  }

  #answered({ conn, place }: ExchangeOrigin, status: number, headers: RawHeaders): void {
    this.#connections.learnSession(conn, headers)
    if (status === UNAUTHORIZED) this.#options.onChallenge?.()
    this.#frames.responseHead(place, status, headers)
  }

  #body(dir: Direction, line: RequestLine, link: ExchangeOrigin, headers: RawHeaders): BodySink {
    const onEndpoint = (data: string): void => this.#endpoint(line, link.conn, data)
    return this.#bodies.begin({ dir, headers, link, onEndpoint })
  }

  #endpoint(line: RequestLine, conn: number, data: string): void {
    const address = endpointAddress(data, line, this.#options.url)
    if (address === undefined) return
    this.#options.log.redactor?.learnUrl(data)
    this.#connections.learnEndpoint(conn, address)
  }

  /** Other paths of the server are none of a tape's business: tokens are fetched there. */
  #isRecorded(path: string): boolean {
    const { url } = this.#options
    return url === undefined || isServerPath(url, path) || this.#connections.isEndpoint(path)
  }
}

const UNAUTHORIZED = 401

/** Where the frames of one exchange stand on the tape. */
interface ExchangeOrigin extends MessageOrigin {
  readonly conn: number
}

/**
 * Which connection an HTTP exchange belongs to. A session, named by its header or by the endpoint of a legacy SSE stream,
 * is one connection. Without a session, as always in the modern era, each exchange is its own: ids may repeat between them.
 */
class ConnectionNumbers {
  readonly #sessions = new Map<string, number>()
  readonly #endpoints = new Map<string, number>()
  #last = 0

  numberFor({ path, headers, origin = '' }: RequestLine): number {
    const session = findHeader(headers, SESSION_HEADER)
    const known = session === undefined ? this.#endpoints.get(origin + path) : this.#sessions.get(session)
    if (known !== undefined) return known
    const conn = ++this.#last
    if (session !== undefined) this.#sessions.set(session, conn)
    return conn
  }

  /** The server named the session in its answer. */
  learnSession(conn: number, headers: RawHeaders): void {
    const session = findHeader(headers, SESSION_HEADER)
    if (session !== undefined && !this.#sessions.has(session)) this.#sessions.set(session, conn)
  }

  /** A legacy SSE stream named the path that its client is to post to; with its origin, where there are several servers. */
  learnEndpoint(conn: number, path: string): void {
    this.#endpoints.set(path, conn)
  }

  isEndpoint(path: string): boolean {
    return this.#endpoints.has(path)
  }
}

const SESSION_HEADER = 'mcp-session-id'

/** Whether a request goes to the server's own path, or below it. */
function isServerPath({ pathname }: URL, path: string): boolean {
  const query = path.indexOf('?')
  const name = query < 0 ? path : path.slice(0, query)
  const isBelow = pathname !== '/' && name.startsWith(pathname.endsWith('/') ? pathname : `${pathname}/`)
  return name === pathname || isBelow
}

/**
 * Where the client of a legacy stream will post to, as its requests will say it: with the origin, where the client names a server
 * with each request. Undefined when what the server named is no address.
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

/** Whether a head repeats arguments of its body, under names that need not say what they are. */
function hasMirroredParams(headers: RawHeaders): boolean {
  return headers.some((name, at) => at % 2 === 0 && name.toLowerCase().startsWith('mcp-param-'))
}

interface DeferredHead {
  /** Looks at a body, which says by its names what is secret. */
  readonly learn: (text: string) => void
  readonly putHead: () => void
  readonly maxBytes: number
}

/** The body of a request whose head waits for it, and then goes on the tape before it. */
function withDeferredHead(body: BodySink, { learn, putHead, maxBytes }: DeferredHead): BodySink {
  const seen = new BoundedBytes(maxBytes)
  let isWaiting = true
  const put = (): void => {
    if (isWaiting) putHead()
    isWaiting = false
  }
  return {
    chunk: (bytes) => {
      seen.add(bytes)
      body.chunk(bytes)
    },
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

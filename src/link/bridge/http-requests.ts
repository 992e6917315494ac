import {
  type IncomingMessage,
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import {
  findHeader,
  type RawHeaders,
  withAddedHeaders,
  MAX_HEAD_BYTES,
  type AddedHeader,
} from '../../http/headers.ts'
import type { ExchangeWatcher, RequestLine } from '../../http/proxy/proxied-exchange.ts'

/** A request of the bridge. */
interface BridgeHttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly path: string
  readonly headers: RawHeaders
  readonly body?: string
  readonly signal: AbortSignal
  /** Told when the whole request is on its way. */
  readonly onSent?: () => void
}

export interface BridgeHttpResponse {
  readonly status: number
  readonly headers: RawHeaders
  /** The body as it comes, which must be read to its end or left early. */
  readonly chunks: () => AsyncGenerator<Uint8Array>
}

/** Where requests go, and who looks on. */
interface BridgeRoute {
  readonly target: BridgeTarget
  readonly watch: (line: RequestLine) => ExchangeWatcher
}

/** Sends a request and returns when the head of the answer is there; rejects when the server cannot be reached. Nothing is tried twice. */
export function sendBridgeRequest(
  { target, watch }: BridgeRoute,
  ask: BridgeHttpRequest,
): Promise<BridgeHttpResponse> {
  const { method, path, body, signal, onSent = () => {} } = ask
  const watcher = watch({ method, path, headers: ask.headers }) // without our own: they do not reach the tape
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
  const headers = ['Host', target.url.host, ...ask.headers, ...length, 'Connection', 'keep-alive']
  return new Promise((resolve, reject) => {
    const out = target.request({ method, path, headers: withAddedHeaders(headers, target.own) })
    const leave = (): void => void out.destroy(new Error('left'))
    signal.addEventListener('abort', leave)
    out.on('close', () => signal.removeEventListener('abort', leave))
    let isAnswered = false
    out.on('error', (error) => {
      if (isAnswered) return // whoever reads the body is told
      if (signal.aborted) watcher.aborted('client')
      else watcher.unreachable(error.message)
      reject(error)
    })
    out.on('finish', onSent)
    out.on('response', (answer) => {
      isAnswered = true
      resolve(watchedResponse(answer, watcher, signal))
    })
    out.end(body)
    if (body !== undefined) watcher.request.chunk(Buffer.from(body))
    watcher.request.end()
    if (signal.aborted) leave()
  })
}

function watchedResponse(
  answer: IncomingMessage,
  watcher: ExchangeWatcher,
  signal: AbortSignal,
): BridgeHttpResponse {
  const { rawHeaders: headers, statusCode: status = 0 } = answer
  const seen = watcher.answered(status, headers)
  return {
    status,
    headers,
    async *chunks() {
      let isWhole = false
      try {
        for await (const chunk of answer) {
          seen.chunk(chunk as Uint8Array)
          yield chunk as Uint8Array
        }
        isWhole = true
      } finally {
        if (isWhole) seen.end()
        else watcher.aborted(signal.aborted || answer.complete ? 'client' : 'server')
      }
    },
  }
}

/** Reads a body to its end. */
export async function readBodyText(answer: BridgeHttpResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export function isEventStreamResponse({ headers }: BridgeHttpResponse): boolean {
  return findHeader(headers, 'content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true
}

const MAX_REDIRECTS = 3

/** Sends a request, and follows a server that has moved within itself; to another one it sends nothing. */
export async function sendFollowingRedirects(
  way: BridgeRoute,
  ask: Omit<BridgeHttpRequest, 'path'>,
): Promise<BridgeHttpResponse> {
  const { target } = way
  let url = target.url
  for (let redirects = 0; ; redirects++) {
    const answer = await sendBridgeRequest(way, { ...ask, path: url.pathname + url.search })
    const next = redirectTarget(answer, url)
    if (next?.origin !== target.url.origin || redirects >= MAX_REDIRECTS) return answer
    await readBodyText(answer)
    url = next
  }
}

function redirectTarget({ status, headers }: BridgeHttpResponse, base: URL): URL | undefined {
  const location = findHeader(headers, 'location')
  if ((status !== 307 && status !== 308) || location === undefined) return undefined
  return URL.canParse(location, base.href) ? new URL(location, base) : undefined
}

/** The way to the server that a bridge leads to. */
interface BridgeTarget {
  readonly url: URL
  /** What we add to every request. It goes to this server alone: no redirect to another is followed. */
  readonly own: readonly AddedHeader[]
  readonly request: (options: { method: string; path: string; headers: string[] }) => ClientRequest
  readonly close: () => void
}

export function openBridgeTarget(url: URL, own: readonly AddedHeader[]): BridgeTarget {
  const isSecure = url.protocol === 'https:'
  const agent = isSecure ? new TlsAgent(AGENT_OPTIONS) : new PlainAgent(AGENT_OPTIONS)
  const host = url.hostname.replaceAll(/[[\]]/g, '')
  const base: RequestOptions & { servername?: string } = {
    agent,
    host,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    maxHeaderSize: MAX_HEAD_BYTES,
    setHost: false,
    ...(isSecure && { servername: isIP(host) === 0 ? host : '' }),
  }
  const send = isSecure ? httpsRequest : httpRequest
  return { url, own, request: (options) => send({ ...base, ...options }), close: () => agent.destroy() }
}

const AGENT_OPTIONS = { keepAlive: true, noDelay: true, scheduling: 'lifo' } as const

// Nothing is sent twice, so a request must not meet a socket that the server is just closing: most servers keep an idle one for 5 seconds or more.
const IDLE_MS = 2000

class PlainAgent extends HttpAgent {
  override keepSocketAlive(socket: Socket): boolean {
    return keepIdleBriefly(socket)
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.setTimeout(0)
    super.reuseSocket(socket, request)
  }
}

class TlsAgent extends HttpsAgent {
  override keepSocketAlive(socket: Socket): boolean {
    return keepIdleBriefly(socket)
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.setTimeout(0)
    super.reuseSocket(socket, request)
  }
}

function keepIdleBriefly(socket: Socket): boolean {
  socket.setKeepAlive(true)
  socket.unref()
  socket.setTimeout(IDLE_MS)
  return true
}

/** The two sides that a bridge joins. */
export interface BridgeContext extends BridgeRoute {
  /** A message for the client, without line feeds. */
  readonly toClient: (message: string) => void
  /** For people. */
  readonly say: (words: string) => void
}

/** Between the tokens of JSON a line feed is white space. */
export function asSingleLine(text: string): string {
  return text.trim().replaceAll(/[\r\n]+/g, ' ')
}

import type { IncomingMessage } from 'node:http'
import { type HttpExchange, requestHead, type RequestHead, type HttpClient } from '../client/http-client.ts'
import type { HttpResponseHead } from '../client/response-reader.ts'
import {
  type AddedHeader,
  endToEndHeaders,
  findHeader,
  type RawHeaders,
  withAddedHeaders,
} from '../headers.ts'
import type { ProxyResponse } from '../server/fast-response.ts'
import { sendErrorResponse, type ServedRequest } from '../server/http-server.ts'

/** Observes one exchange. None of its functions may throw. */
export interface ExchangeWatcher {
  readonly request: BodyWatcher
  /** Called with the head of the response; returns the observer of its body. */
  readonly answered: (status: number, headers: RawHeaders) => BodyWatcher
  readonly aborted: (by: 'client' | 'server' | 'recorder', why?: string) => void
  readonly unreachable: (why: string) => void
  /** Can hold messages of the exchange back. The gate then passes the bodies to the observers, not the proxy. */
  readonly gate?: ExchangeGate | undefined
}

/** Decides what of an exchange is forwarded, and when. */
export interface ExchangeGate {
  /** Called with the whole body of a request. Without a call of `send`, nothing goes to the server. */
  readonly request: (body: Buffer, ports: RequestPorts, client: ClientPort) => void
  /** Called with the head of the response, before anything is forwarded. Returns what takes the body, and writes it to the client. */
  readonly response: (
    head: HttpResponseHead,
    client: ClientPort,
    watcher: BodyWatcher,
  ) => BodyWatcher | undefined
  /** One side has left, or the proxy is closing. */
  readonly abandon: (why: string) => void
}

/** The ways from a gate to the server. */
export interface RequestPorts {
  readonly send: ForwardRequest
  /** Posts a further body with the headers of the client, and collects the response, which does not go to the client. */
  readonly post: (
    body: Buffer,
    replaced: ReplacedHeaders,
    onResponse: (head: HttpResponseHead, body: Buffer) => void,
  ) => void
}

/** Sends a request with this body, and the headers of the client except for those that are replaced. */
export type ForwardRequest = (body: Buffer, replaced?: ReplacedHeaders) => void

/** Values of headers by their lower-case names. A header without a value is left out, and one that the request does not have is added. */
type ReplacedHeaders = Readonly<Record<string, string | undefined>>

/** The response to the client of an exchange with a gate. */
export interface ClientPort {
  readonly isHeadSent: () => boolean
  readonly head: (status: number, reason: string, headers: readonly string[]) => void
  readonly write: (bytes: Uint8Array | string) => void
  readonly end: (bytes?: Uint8Array | string) => void
  /** Disconnects the client without a response. */
  readonly destroy: () => void
  /** Ends the direction to the client, in the middle of the response; the other one stays open. */
  readonly halfClose: () => void
  /** Disconnects the client without a proper close. */
  readonly reset: () => void
}

/** Observes a body: each part before it is forwarded. None of its functions may throw. */
export interface BodyWatcher {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
  /** Takes the decoded body, if this one is compressed. */
  readonly decoded?: BodyWatcher
}

export interface RequestLine {
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
  /** The server, if the client names one with each request. */
  readonly origin?: string
}

/** Observes the requests of a proxy. */
export interface ProxyWatcher {
  readonly watch: (request: RequestLine) => ExchangeWatcher
  /** The proxy rejected a request by itself. */
  readonly refused: (why: string) => void
}

/** Changes the body of a response while it is forwarded. */
export interface ResponseRewriter {
  /** Returns the bytes that can be forwarded now. */
  readonly next: (chunk: Uint8Array) => Uint8Array
  /** Returns the bytes that were held back until the end of the body. */
  readonly end: () => Uint8Array
}

/** The server behind a proxy. */
export interface Upstream {
  readonly client: HttpClient
  readonly url: URL
  /** Headers that are added to every request. They go to this server only, because redirects are not followed. */
  readonly added: readonly AddedHeader[]
  /** Replaces the `Host` of the client; undefined if that is kept. */
  readonly host: string | undefined
  /** Returns undefined if the body of this response is forwarded unchanged. */
  readonly rewriterFor: (request: RequestLine, headers: RawHeaders) => ResponseRewriter | undefined
}

/** One exchange on its way through a proxy. */
export class ProxiedExchange {
  /** The index of this exchange in `OpenExchanges`. */
  slot = 0
  readonly #upstream: Upstream
  readonly #request: RequestLine
  readonly #watcher: ExchangeWatcher
  #out: HttpExchange | undefined
  #res: ProxyResponse | undefined
  #response: ForwardedResponse | undefined
  #isFinished = false

  constructor(upstream: Upstream, line: RequestLine, watcher: ExchangeWatcher) {
    this.#upstream = upstream
    this.#request = line
    this.#watcher = watcher
  }

  start(req: ServedRequest, res: ProxyResponse): void {
    this.#res = res
    this.#attempt(res, () => this.#forward(req, res))
  }

  /** The proxy is closing. The client sees the end of its stream, and the server sees that its client left. */
  stop(): void {
    this.#abort('recorder')
    this.#out?.abort()
    if (this.#response !== undefined) this.#response.close()
    else if (this.#res?.headersSent === true) this.#res.end()
    else this.#res?.destroy()
  }

  #forward(req: ServedRequest, res: ProxyResponse): void {
    const { headers } = this.#request
    res.on('close', () => {
      if (!res.writableFinished) this.#abort('client')
      if (this.#out !== undefined) {
        if (res.writableFinished) abortWithClient(req, this.#out)
        else this.#out.abort()
      }
    })
    const { gate } = this.#watcher
    if (gate !== undefined) return this.#forwardThroughGate(gate, req, res)
    const out = this.#send(headers, req, res)
    const body = new WatchedBody(headers, this.#watcher.request)
    if ('body' in req) relayWholeBody(req.body, out, body)
    else relayRequestBody(req, out, body)
  }

  #send(headers: RawHeaders, req: ServedRequest, res: ProxyResponse): HttpExchange {
    const { client, url } = this.#upstream
    const out = client.send(url, this.#requestHead(headers), {
      onHead: (head) => this.#attempt(res, () => (this.#response = this.#respond(head, res))),
      onBody: (bytes) => this.#response?.write(bytes),
      onEnd: () => this.#response?.end(),
      onFail: (error) => (this.#response === undefined ? this.#fail(error, res) : this.#breakOff(res)),
      onDrain: () => resumeBody(req),
    })
    this.#out = out
    return out
  }

  /** A message can be held only when it is complete, so the request is sent when its body has arrived. */
  #forwardThroughGate(gate: ExchangeGate, req: ServedRequest, res: ProxyResponse): void {
    whenWhole(req, (whole) => {
      const send: ForwardRequest = (body, replaced) => {
        const out = this.#send(withReplacedHeaders(this.#request.headers, replaced), req, res)
        if (body.length > 0) out.write(shortAsText(body))
        out.end()
      }
      const ports = { send, post: postTo(this.#upstream, this.#request) }
      const client = clientPort(res, () => void (this.#isFinished = true))
      this.#attempt(res, () => gate.request(whole, ports, client))
    })
  }

  /** Node refuses to write some heads that it has read, such as one with the status 099. */
  #attempt(res: ProxyResponse, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)), res)
      this.#out?.abort()
    }
  }

  #abort(by: 'client' | 'server' | 'recorder', why?: string): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#watcher.gate?.abandon(`the ${by} left`)
    this.#watcher.aborted(by, why)
  }

  #breakOff(res: ProxyResponse): void {
    this.#abort('server')
    res.destroy()
  }

  #fail({ message }: Error, res: ProxyResponse): void {
    if (res.headersSent || this.#isFinished) {
      this.#abort('server', message)
      if (this.#watcher.gate !== undefined) res.destroy() // the response may have begun before the server was reached
      return
    }
    this.#isFinished = true
    this.#watcher.unreachable(message)
    sendErrorResponse(res, 502, `cannot reach ${this.#upstream.url.origin}: ${message}`)
  }

  /** Keeps the last head of each server: a client sends the same one many times a second. */
  #requestHead(headers: RawHeaders): RequestHead {
    const { method, path } = this.#request
    const last = lastRequestHeads.get(this.#upstream)
    if (last?.headers === headers && last.method === method && last.path === path) return last.head
    const head = requestHead(method, path, requestHeaders(headers, method, this.#upstream))
    lastRequestHeads.set(this.#upstream, { method, path, headers, head })
    return head
  }

  #respond(head: HttpResponseHead, res: ProxyResponse): ForwardedResponse {
    const { status, reason, headers } = head
    const watcher = this.#watcher.answered(status, headers)
    res.sendDate = false
    const gated = this.#watcher.gate?.response(
      { ...head, headers: responseHeaders(status, headers) },
      clientPort(res, () => void (this.#isFinished = true)),
      watcher,
    )
    if (gated !== undefined)
      return {
        write: gated.chunk,
        end: gated.end,
        close: () => (res.headersSent ? res.end() : res.destroy()),
      }
    res.writeHead(status, reason, responseHeaders(status, headers))
    // With a length, the body is already on its way and shares a packet with the head.
    if (findHeader(headers, 'content-length') === undefined) res.flushHeaders()
    res.on('drain', () => this.#out?.resume())
    const body = new WatchedBody(headers, watcher, () => void (this.#isFinished = true))
    return new RelayedResponse(res, body, this.#upstream.rewriterFor(this.#request, headers), () =>
      this.#out?.pause(),
    )
  }
}

/** It does not keep the exchange in memory. */
function postTo(upstream: Upstream, { method, path, headers }: RequestLine): RequestPorts['post'] {
  return (body, changed, onResponse) => {
    const replaced = {
      ...changed,
      'content-length': String(body.length),
      'content-encoding': undefined,
      'accept-encoding': 'identity',
    }
    const sent = requestHeaders(withReplacedHeaders(headers, replaced), method, upstream)
    const chunks: Buffer[] = []
    let head: HttpResponseHead | undefined
    const out = upstream.client.send(upstream.url, requestHead(method, path, sent), {
      onHead: (received) => void (head = received),
      onBody: (bytes) => chunks.push(Buffer.from(bytes)),
      onEnd: () => head && onResponse(head, Buffer.concat(chunks)),
      onFail: () => {}, // nobody but the user waits for it
      onDrain: () => {},
    })
    out.write(shortAsText(body))
    out.end()
  }
}

function requestHeaders(headers: RawHeaders, method: string, { added, host }: Upstream): string[] {
  const sent = withAddedHeaders(endToEndHeaders(headers), added)
  if (host !== undefined) replaceHost(sent, host)
  if (findHeader(headers, 'transfer-encoding') !== undefined) sent.push('Transfer-Encoding', 'chunked')
  else if (findHeader(headers, 'content-length') === undefined && BODY_EXPECTED.test(method))
    sent.push('Content-Length', '0')
  sent.push('Connection', 'keep-alive')
  return sent
}

const lastRequestHeads = new WeakMap<Upstream, RequestLine & { readonly head: RequestHead }>()

/** A response on its way to the client. */
interface ForwardedResponse {
  write(bytes: Uint8Array): void
  end(): void
  /** Ends the body as if it were complete. */
  close(): void
}

function clientPort(res: ProxyResponse, onEnd: () => void = () => {}): ClientPort {
  return {
    isHeadSent: () => res.headersSent,
    head: (status, reason, headers) => {
      res.sendDate = false
      res.writeHead(status, reason, [...headers])
      if (findHeader(headers, 'content-length') === undefined) res.flushHeaders()
    },
    write: (bytes) => {
      if (res.writableEnded || res.destroyed) return
      if (typeof bytes === 'string') res.write(bytes)
      else res.write(shortAsText(bytes), 'latin1')
    },
    end: (bytes) => {
      onEnd()
      if (res.destroyed) return
      if (bytes === undefined || typeof bytes === 'string') res.end(bytes)
      else res.end(shortAsText(bytes), 'latin1')
    },
    destroy: () => {
      onEnd()
      res.destroy()
    },
    halfClose: () => {
      onEnd()
      res.socket?.end()
    },
    reset: () => {
      onEnd()
      res.socket?.resetAndDestroy()
    },
  }
}

function withReplacedHeaders(headers: RawHeaders, replaced: ReplacedHeaders | undefined): RawHeaders {
  if (replaced === undefined) return headers
  const rest = new Map(Object.entries(replaced))
  // A body in chunks has no length.
  if (findHeader(headers, 'transfer-encoding') !== undefined) rest.delete('content-length')
  const sent: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!
    const key = name.toLowerCase()
    const value = Object.hasOwn(replaced, key) ? replaced[key] : headers[at + 1]!
    rest.delete(key)
    if (value !== undefined) sent.push(name, value)
  }
  for (const [name, value] of rest) if (value !== undefined) sent.push(name, value)
  return sent
}

/** A response with the status 204 has no body, whatever its headers say. */
function responseHeaders(status: number, headers: RawHeaders): string[] {
  const sent = endToEndHeaders(headers)
  if (status !== NO_CONTENT) return sent
  return sent.filter((_, at) => sent[at - (at % 2)]!.toLowerCase() !== 'content-length')
}

const NO_CONTENT = 204

/** After an early response the client may leave while it is still sending; Node reports that on the socket only. */
function abortWithClient(req: ServedRequest, out: HttpExchange): void {
  if (!('body' in req) && !req.complete) req.socket.once('close', () => out.abort())
}

const BODY_EXPECTED = /^(POST|PUT|PATCH)$/

function replaceHost(headers: string[], host: string): void {
  const at = headers.findIndex((word, index) => index % 2 === 0 && word.toLowerCase() === 'host')
  headers[at + 1] = host
}

/** Passes a body to its watcher. The watcher learns of the end with the last byte, if the length is known. */
class WatchedBody {
  readonly #watcher: BodyWatcher
  readonly #onEnd: (() => void) | undefined
  #left: number
  /** Whether the last byte was passed on. */
  isDone = false

  constructor(headers: RawHeaders, watcher: BodyWatcher, onEnd?: () => void) {
    this.#watcher = watcher
    this.#onEnd = onEnd
    this.#left = Number(findHeader(headers, 'content-length') ?? NaN)
  }

  chunk(bytes: Uint8Array): void {
    this.#watcher.chunk(bytes)
    this.#left -= bytes.length
    if (this.#left === 0) this.end()
  }

  end(): void {
    if (this.isDone) return
    this.isDone = true
    this.#watcher.end()
    this.#onEnd?.()
  }
}

/** Calls `take` with the body of a request when it has arrived. */
function whenWhole(req: ServedRequest, take: (body: Buffer) => void): void {
  if ('body' in req) return take(req.body)
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('error', () => {}) // that the client left is seen when the response is closed
  req.on('end', () => take(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
}

function resumeBody(req: ServedRequest): void {
  if (!('body' in req)) req.resume()
}

function relayWholeBody(bytes: Buffer, out: HttpExchange, body: WatchedBody): void {
  if (bytes.length > 0) {
    body.chunk(bytes)
    out.write(shortAsText(bytes))
  }
  body.end()
  out.end()
}

/** Forwards the body of a request as it arrives. A slow server slows the client down. */
function relayRequestBody(req: IncomingMessage, out: HttpExchange, body: WatchedBody): void {
  req.on('data', (chunk: Buffer) => {
    body.chunk(chunk)
    if (!out.write(shortAsText(chunk))) req.pause()
  })
  req.on('end', () => {
    body.end()
    out.end()
  })
  req.on('error', () => {}) // that the client left is seen when the response is closed
}

/** Forwards the body of a response as it arrives. */
class RelayedResponse implements ForwardedResponse {
  readonly #res: ProxyResponse
  readonly #body: WatchedBody
  readonly #rewriter: ResponseRewriter | undefined
  readonly #pause: () => void
  readonly #isChunked: boolean

  constructor(
    res: ProxyResponse,
    body: WatchedBody,
    rewriter: ResponseRewriter | undefined,
    pause: () => void,
  ) {
    this.#res = res
    this.#body = body
    this.#rewriter = rewriter
    this.#pause = pause
    // Chunks are framed here, in one piece. Node would write each one in four, which delays an event by a quarter.
    this.#isChunked = res.headersSent && res.chunkedEncoding
    if (this.#isChunked) res.chunkedEncoding = false
  }

  write(chunk: Uint8Array): void {
    this.#body.chunk(chunk)
    if (this.#rewriter !== undefined) return this.#send(this.#rewriter.next(chunk))
    // The last part shares a packet with the head of a short response.
    if (this.#body.isDone && !this.#isChunked) this.#res.end(shortAsText(chunk), 'latin1')
    else this.#send(chunk)
  }

  end(): void {
    this.#body.end()
    if (this.#rewriter !== undefined) this.#send(this.#rewriter.end())
    this.close()
  }

  /** Ends the body as if it were complete. */
  close(): void {
    if (this.#res.writableEnded) return
    if (this.#isChunked) this.#res.end(LAST_CHUNK, 'latin1')
    else this.#res.end()
  }

  /** A slow client slows the server down. */
  #send(bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.#sendPart(bytes)) this.#pause()
  }

  #sendPart(bytes: Uint8Array): boolean {
    const data = shortAsText(bytes)
    if (!this.#isChunked) return this.#res.write(data, 'latin1')
    const size = `${bytes.length.toString(16)}\r\n`
    if (typeof data === 'string') return this.#res.write(`${size}${data}\r\n`, 'latin1')
    this.#res.write(size, 'latin1')
    this.#res.write(data)
    return this.#res.write('\r\n', 'latin1')
  }
}

const LAST_CHUNK = '0\r\n\r\n'
const SHORT_BYTES = 4096

// A head and a short text are joined into one write; as Latin-1, the text is the same bytes.
function shortAsText(bytes: Uint8Array): string | Uint8Array {
  if (bytes.length > SHORT_BYTES) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** The exchanges that are under way. */
export class OpenExchanges {
  // Not a Set: at this rate of additions and removals it leaves old tables behind, and each keeps its exchanges in memory
  // until the next full garbage collection.
  readonly #exchanges: ProxiedExchange[] = []

  start(exchange: ProxiedExchange, req: ServedRequest, res: ProxyResponse): void {
    exchange.slot = this.#exchanges.push(exchange) - 1
    res.on('close', () => this.#remove(exchange))
    exchange.start(req, res)
  }

  stop(): void {
    for (const exchange of this.#exchanges) exchange.stop()
  }

  #remove({ slot }: ProxiedExchange): void {
    const last = this.#exchanges.pop()
    if (last === undefined || last.slot === slot) return
    this.#exchanges[slot] = last
    last.slot = slot
  }
}

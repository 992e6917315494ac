import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpExchange, requestHead, type HttpClient } from '../client/http-client.ts'
import type { HttpResponseHead } from '../client/response-reader.ts'
import {
  type AddedHeader,
  endToEndHeaders,
  findHeader,
  type RawHeaders,
  withAddedHeaders,
} from '../headers.ts'
import { sendErrorResponse } from '../server/http-server.ts'

/** Observes one exchange. None of its functions may throw. */
export interface ExchangeWatcher {
  readonly request: BodyWatcher
  /** Called with the head of the response; returns the observer of its body. */
  readonly answered: (status: number, headers: RawHeaders) => BodyWatcher
  readonly aborted: (by: 'client' | 'server' | 'recorder', why?: string) => void
  readonly unreachable: (why: string) => void
}

/** Observes a body: each part before it is forwarded. None of its functions may throw. */
export interface BodyWatcher {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
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
  #res: ServerResponse | undefined
  #isFinished = false

  constructor(upstream: Upstream, line: RequestLine, watcher: ExchangeWatcher) {
    this.#upstream = upstream
    this.#request = line
    this.#watcher = watcher
  }

  start(req: IncomingMessage, res: ServerResponse): void {
    this.#res = res
    this.#attempt(res, () => this.#forward(req, res))
  }

  /** The proxy is closing. The client sees the end of its stream, and the server sees that its client left. */
  stop(): void {
    this.#abort('recorder')
    this.#out?.abort()
    if (this.#res?.headersSent === true) this.#res.end()
    else this.#res?.destroy()
  }

  #forward(req: IncomingMessage, res: ServerResponse): void {
    const { method, path, headers } = this.#request
    const { client, url } = this.#upstream
    let response: RelayedResponse | undefined
    const out = client.send(url, requestHead(method, path, this.#requestHeaders(headers)), {
      onHead: (head) => this.#attempt(res, () => (response = this.#respond(head, res))),
      onBody: (bytes) => response?.write(bytes),
      onEnd: () => response?.end(),
      onFail: (error) => (response === undefined ? this.#fail(error, res) : this.#breakOff(res)),
      onDrain: () => req.resume(),
    })
    this.#out = out
    res.on('close', () => {
      if (res.writableFinished) return abortWithClient(req, out)
      this.#abort('client')
      out.abort()
    })
    relayRequestBody(req, out, new WatchedBody(headers, this.#watcher.request))
  }

  /** Node refuses to write some heads that it has read, such as one with the status 099. */
  #attempt(res: ServerResponse, work: () => void): void {
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
    this.#watcher.aborted(by, why)
  }

  #breakOff(res: ServerResponse): void {
    this.#abort('server')
    res.destroy()
  }

  #fail({ message }: Error, res: ServerResponse): void {
    if (res.headersSent || this.#isFinished) return this.#abort('server', message)
    this.#isFinished = true
    this.#watcher.unreachable(message)
    sendErrorResponse(res, 502, `cannot reach ${this.#upstream.url.origin}: ${message}`)
  }

  #requestHeaders(headers: RawHeaders): string[] {
    const { added, host } = this.#upstream
    const sent = withAddedHeaders(endToEndHeaders(headers), added)
    if (host !== undefined) replaceHost(sent, host)
    if (findHeader(headers, 'transfer-encoding') !== undefined) sent.push('Transfer-Encoding', 'chunked')
    else if (findHeader(headers, 'content-length') === undefined && BODY_EXPECTED.test(this.#request.method))
      sent.push('Content-Length', '0')
    sent.push('Connection', 'keep-alive')
    return sent
  }

  #respond({ status, reason, headers }: HttpResponseHead, res: ServerResponse): RelayedResponse {
    const watcher = this.#watcher.answered(status, headers)
    res.sendDate = false
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

/** A response with the status 204 has no body, whatever its headers say. */
function responseHeaders(status: number, headers: RawHeaders): string[] {
  const sent = endToEndHeaders(headers)
  if (status !== NO_CONTENT) return sent
  return sent.filter((_, at) => sent[at - (at % 2)]!.toLowerCase() !== 'content-length')
}

const NO_CONTENT = 204

/** After an early response the client may leave while it is still sending; Node reports that on the socket only. */
function abortWithClient(req: IncomingMessage, out: HttpExchange): void {
  if (!req.complete) req.socket.once('close', () => out.abort())
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
  #isDone = false

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
    if (this.#isDone) return
    this.#isDone = true
    this.#watcher.end()
    this.#onEnd?.()
  }
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
class RelayedResponse {
  readonly #res: ServerResponse
  readonly #body: WatchedBody
  readonly #rewriter: ResponseRewriter | undefined
  readonly #pause: () => void

  constructor(
    res: ServerResponse,
    body: WatchedBody,
    rewriter: ResponseRewriter | undefined,
    pause: () => void,
  ) {
    this.#res = res
    this.#body = body
    this.#rewriter = rewriter
    this.#pause = pause
  }

  write(chunk: Uint8Array): void {
    this.#body.chunk(chunk)
    this.#send(this.#rewriter?.next(chunk) ?? chunk)
  }

  end(): void {
    this.#body.end()
    if (this.#rewriter !== undefined) this.#send(this.#rewriter.end())
    this.#res.end()
  }

  /** A slow client slows the server down. */
  #send(bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.#res.write(shortAsText(bytes), 'latin1')) this.#pause()
  }
}

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

  start(exchange: ProxiedExchange, req: IncomingMessage, res: ServerResponse): void {
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

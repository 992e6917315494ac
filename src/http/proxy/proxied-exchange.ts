import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UpstreamResponse, UpstreamRequest } from '../client/upstream-pool.ts'
import type { Upstream } from '../client/upstream.ts'
import { endToEndHeaders, findHeader, type RawHeaders, withAddedHeaders } from '../headers.ts'
import { endpointRewriter, type EndpointRewriter } from './endpoint-rewrite.ts'
import { sendErrorResponse } from '../server/served-exchange.ts'

/** Who looks on at one exchange. Nothing that it does may throw. */
export interface ExchangeWatcher {
  readonly request: BodyWatcher
  /** The head of the answer; what it returns looks on at the body. */
  readonly answered: (status: number, headers: RawHeaders) => BodyWatcher
  readonly aborted: (by: 'client' | 'server' | 'recorder', why?: string) => void
  readonly unreachable: (why: string) => void
}

export interface RequestLine {
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
  /** The server, where the client names one with each request. */
  readonly origin?: string
}

/** One exchange on its way through. */
export class ProxiedExchange {
  /** Its place among those that are under way. */
  slot = 0
  readonly #target: Upstream
  readonly #request: RequestLine
  readonly #watcher: ExchangeWatcher
  #out: UpstreamRequest | undefined
  #res: ServerResponse | undefined
  #isFinished = false

  constructor(target: Upstream, line: RequestLine, watcher: ExchangeWatcher) {
    this.#target = target
    this.#request = line
    this.#watcher = watcher
  }

  start(req: IncomingMessage, res: ServerResponse): void {
    this.#res = res
    this.#attempt(res, () => this.#begin(req, res))
  }

  /** The proxy is closing: the client sees the end of its stream, the server that its client left. */
  stop(): void {
    this.#abort('recorder')
    this.#out?.destroy()
    if (this.#res?.headersSent === true) this.#res.end()
    else this.#res?.destroy()
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    const { method, path, headers } = this.#request
    const out = this.#target.request({ method, path, headers: this.#requestHeaders(headers) })
    this.#out = out
    out.on('response', (answer) => this.#attempt(res, () => this.#respond(answer, res)))
    out.on('error', (error) => this.#fail(error, res))
    out.on('close', () => req.resume()) // what the server no longer reads must not keep the client waiting
    res.on('close', () => {
      if (res.writableFinished) return abortWithClient(req, out)
      this.#abort('client')
      out.destroy()
    })
    relayBody({ from: req, to: out, headers, watcher: this.#watcher.request })
  }

  /** Node refuses to write some heads that it has read, such as one with the status 099. */
  #attempt(res: ServerResponse, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)), res)
      this.#out?.destroy()
    }
  }

  #abort(by: 'client' | 'server' | 'recorder', why?: string): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#watcher.aborted(by, why)
  }

  #fail(error: Error, res: ServerResponse): void {
    if (res.headersSent || this.#isFinished) return this.#abort('server', errorReason(error))
    this.#isFinished = true
    const why = errorReason(error)
    this.#watcher.unreachable(why)
    sendErrorResponse(res, 502, `cannot reach ${this.#target.url.origin}: ${why}`)
  }

  #requestHeaders(headers: RawHeaders): string[] {
    const flat = withAddedHeaders(endToEndHeaders(headers), this.#target.own)
    if (!this.#target.keepsHost) replaceHost(flat, this.#target.url.host)
    if (findHeader(headers, 'transfer-encoding') !== undefined) flat.push('Transfer-Encoding', 'chunked')
    else if (findHeader(headers, 'content-length') === undefined && BODY_EXPECTED.test(this.#request.method))
      flat.push('Content-Length', '0')
    flat.push('Connection', 'keep-alive')
    return flat
  }

  #respond(answer: UpstreamResponse, res: ServerResponse): void {
    const headers = answer.rawHeaders
    const status = answer.statusCode
    const watcher = this.#watcher.answered(status, headers)
    res.sendDate = false
    res.writeHead(status, answer.statusMessage, endToEndHeaders(headers))
    // With a length, the body is on its way already and shares a packet with the head.
    if (findHeader(headers, 'content-length') === undefined) res.flushHeaders()
    const onEnd = (): void => void (this.#isFinished = true)
    relayBody({ from: answer, to: res, headers, watcher, rewriter: this.#rewriter(headers), onEnd })
    answer.on('close', () => {
      if (answer.complete) return
      this.#abort('server')
      res.destroy()
    })
  }

  #rewriter(headers: RawHeaders): EndpointRewriter | undefined {
    if (this.#target.isNamedByClient) return undefined
    if (this.#request.method !== 'GET' || findHeader(headers, 'content-encoding') !== undefined)
      return undefined
    if (findHeader(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream') !== true)
      return undefined
    return endpointRewriter(this.#target.url.origin, `http://${findHeader(this.#request.headers, 'host')}`)
  }
}

/** A client that was answered early may leave while it is still asking; node tells only the socket. */
function abortWithClient(req: IncomingMessage, out: UpstreamRequest): void {
  if (!req.complete) req.socket.once('close', () => out.destroy())
}

const BODY_EXPECTED = /^(POST|PUT|PATCH)$/

function replaceHost(flat: string[], host: string): void {
  const at = flat.findIndex((word, index) => index % 2 === 0 && word.toLowerCase() === 'host')
  flat[at + 1] = host
}

function errorReason(error: Error): string {
  const { code } = error as NodeJS.ErrnoException
  return error.message === '' ? (code ?? 'no reason given') : error.message
}

/** The exchanges that are under way. */
export class OpenExchanges {
  // No Set: at this rate of coming and going it leaves old tables behind, and each keeps its exchanges until the next full collection.
  readonly #exchanges: ProxiedExchange[] = []

  start(passage: ProxiedExchange, req: IncomingMessage, res: ServerResponse): void {
    passage.slot = this.#exchanges.push(passage) - 1
    res.on('close', () => this.#remove(passage))
    passage.start(req, res)
  }

  stop(): void {
    for (const passage of this.#exchanges) passage.stop()
  }

  #remove({ slot }: ProxiedExchange): void {
    const last = this.#exchanges.pop()
    if (last === undefined || last.slot === slot) return
    this.#exchanges[slot] = last
    last.slot = slot
  }
}

/** Who looks on at a body. Nothing that it does may throw. */
export interface BodyWatcher {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
}

interface RelayBodyOptions {
  readonly from: IncomingMessage | UpstreamResponse
  readonly to: UpstreamRequest | ServerResponse
  readonly headers: RawHeaders
  readonly watcher: BodyWatcher
  readonly rewriter?: EndpointRewriter | undefined
  readonly onEnd?: () => void
}

/** Hands a body on as it comes, and has a slow reader slow the writer down. */
function relayBody({ from, to, headers, watcher, rewriter, onEnd }: RelayBodyOptions): void {
  let left = Number(findHeader(headers, 'content-length') ?? NaN)
  let isDone = false
  const slowDown = throttle(from, to)
  const finish = (): void => {
    isDone = true
    watcher.end()
    onEnd?.()
  }
  from.on('data', (chunk: Buffer) => {
    const bytes = rewriter === undefined ? chunk : rewriter.next(chunk)
    if (bytes.length > 0 && !writeChunk(bytes, to)) slowDown()
    watcher.chunk(chunk)
    left -= chunk.length
    if (left === 0) finish()
  })
  from.on('end', () => {
    const held = rewriter?.end() ?? NOTHING
    if (held.length > 0) writeChunk(held, to)
    to.end()
    if (!isDone) finish()
  })
  from.on('error', () => {}) // whoever left is noticed by the close of the exchange
}

const NOTHING = new Uint8Array(0)
const SMALL_BYTES = 4096

// Node joins a head and a short text into one write; as Latin-1, the text is the same bytes. With the end it would be two again.
function writeChunk(bytes: Uint8Array, to: RelayBodyOptions['to']): boolean {
  return bytes.length > SMALL_BYTES ? to.write(bytes) : to.write(latin1(bytes), 'latin1')
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** What has been read already still comes after a pause, maybe in many pieces: one wait is enough for all of them. */
function throttle(from: RelayBodyOptions['from'], to: RelayBodyOptions['to']): () => void {
  let isWaiting = false
  const goOn = (): void => {
    isWaiting = false
    from.resume()
  }
  return () => {
    if (isWaiting) return
    isWaiting = true
    from.pause()
    to.once('drain', goOn)
  }
}

import { errorMessage } from '../errors.ts'
import { findHeader } from '../http/headers.ts'
import type { ResponseHandlers } from '../http/client/http-client.ts'
import type { HttpResponseHead } from '../http/client/response-reader.ts'
import { parseJson } from '../json/parse.ts'
import { guessResultId } from '../protocol/find-id.ts'
import { idKey, classifyMessage, type Id, type Message } from '../protocol/message.ts'
import { revisionOfRequest } from '../protocol/revisions/index.ts'
import {
  type ClientLink,
  type HttpRefusal,
  type LinkExchange,
  type LinkHandlers,
  type OpenLink,
  requestKeys,
  responseKeys,
} from './client-link.ts'
import {
  HttpBodyReader,
  type OpenStream,
  type RetryScheduler,
  scheduleRetry,
  ServerEventStreams,
} from './event-streams.ts'
import {
  type HttpLinkOptions,
  HttpRequests,
  type OpenRequest,
  type InputSchemaOf,
  SessionHeaders,
} from './http-requests.ts'

export interface StreamableHttpLinkOptions extends HttpLinkOptions {
  /** The input schema of a tool that the server has not listed over this link. */
  readonly inputSchemaOf?: InputSchemaOf
  /** Schedules the next attempt to open a stream. */
  readonly later?: RetryScheduler
}

/** A link over Streamable HTTP, for revisions with and without sessions. Each message shows which kind it belongs to. */
export function streamableHttpLink(options: StreamableHttpLinkOptions): OpenLink {
  return async (handlers) => new StreamableHttpLink(options, handlers)
}

class StreamableHttpLink implements ClientLink {
  readonly #url: URL
  readonly #handlers: LinkHandlers
  readonly #requests: HttpRequests
  readonly #headers: SessionHeaders
  readonly #streams: ServerEventStreams
  /** The POST of each request that has no response yet, by id key. */
  readonly #posts = new Map<string, Post>()
  #isClosed = false

  constructor(options: StreamableHttpLinkOptions, handlers: LinkHandlers) {
    this.#url = options.url
    this.#handlers = handlers
    this.#requests = new HttpRequests(options)
    this.#headers = new SessionHeaders(options.inputSchemaOf)
    this.#streams = new ServerEventStreams({
      requests: this.#requests,
      headers: (lastEventId) => this.#headers.forStream(lastEventId),
      onText: (text) => this.#receive(text),
      schedule: options.later ?? scheduleRetry,
    })
  }

  send(text: string, message: Message = classifyMessage(parseJson(text)), onSettled?: () => void): void {
    const post = new Post(message, onSettled)
    // Opened first, because a server may send notifications as soon as the session is initialized.
    if (isInitialized(message)) this.#streams.openStanding()
    for (const key of post.keys) this.#posts.set(key, post)
    post.request = this.#post(text, post)
  }

  exchange(exchange: LinkExchange): boolean {
    if (this.#isClosed) return false
    const headers = this.#headers.forMessage(exchange.request)
    return this.#requests.exchange(headers, exchange, new DirectResponse(this, exchange))
  }

  /** Takes over a request that was sent with `exchange`, because its response is not one JSON body. */
  postOf({ text, request, id }: LinkExchange): ResponseHandlers {
    const post = new Post({ ...request, id: JSON.parse(id) as Id }, undefined)
    for (const key of post.keys) this.#posts.set(key, post)
    return this.#responseHandlers(text, post)
  }

  /** In some revisions closing the stream does not cancel a request, because the client may continue the stream later. */
  abort(key: string): boolean {
    const post = this.#posts.get(key)
    if (post === undefined || !closingCancels(post.message)) return false
    this.#forget(key)
    post.request?.abort()
    post.settle()
    return true
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const { resumed } of this.#posts.values()) resumed?.close()
    this.#streams.close()
    this.#requests.abortAll()
    if (this.#headers.isInSession) await this.#deleteSession()
    this.#requests.close()
  }

  #post(text: string, post: Post): OpenRequest {
    const headers = this.#headers.forMessage(post.message)
    return this.#requests.send({ method: 'POST', headers, body: text }, this.#handlersFor(post))
  }

  /** For a request whose head was not sent by `#post`. A redirect is followed by sending it again. */
  #responseHandlers(text: string, post: Post): ResponseHandlers {
    const handlers = this.#handlersFor(post)
    let isRedirected = false
    return {
      onHead: (head) => {
        isRedirected = head.status === 307 || head.status === 308
        if (!isRedirected) handlers.onHead(head)
      },
      onBody: (chunk) => isRedirected || handlers.onBody(chunk),
      onEnd: () => {
        if (isRedirected) post.request = this.#post(text, post)
        else handlers.onEnd()
      },
      onFail: (error) => handlers.onFail(error),
    }
  }

  #handlersFor(post: Post): ResponseHandlers {
    let body: HttpBodyReader | undefined
    let location: string | undefined
    return {
      onSent: post.onSent,
      onHead: (head) => {
        if (post.key !== undefined) this.#handlers.onResponding?.(post.key)
        body = this.#readBody(head, post)
        if (head.status >= 300) location = findHeader(head.headers, 'location')
      },
      onBody: (chunk) => body?.push(chunk),
      onEnd: () => this.#finish(post, body, location),
      onFail: (error) => this.#fail(post, body, error),
    }
  }

  #readBody(head: HttpResponseHead, post: Post): HttpBodyReader {
    const session = post.isInitialize ? findHeader(head.headers, 'mcp-session-id') : undefined
    if (session !== undefined && head.status < 300) this.#headers.setSession(session)
    return new HttpBodyReader(head, {
      onText: (text) => this.#receive(text, post.key),
      onOverlong: (bytes) =>
        this.#lose(post, `the server sent an event of ${bytes} bytes, which is too long`),
    })
  }

  #receive(text: string, key?: string): void {
    const id = guessResultId(text)
    if (id !== undefined) this.#answered(idKey(id), text)
    else if (this.#posts.size > 0) for (const answered of responseKeys(text)) this.#answered(answered, text)
    this.#handlers.onText(text, key)
  }

  #answered(key: string, text: string): void {
    const post = this.#posts.get(key)
    if (post === undefined) return
    if (post.message.kind === 'request') this.#headers.learn(post.message.method, text)
    this.#forget(key)
    if (post.isInitialize) post.settle()
  }

  #forget(key: string): void {
    const post = this.#posts.get(key)
    this.#posts.delete(key)
    if (post !== undefined && !this.#isAwaited(post)) post.resumed?.close()
  }

  #isAwaited({ keys }: Post): boolean {
    return keys.some((key) => this.#posts.has(key))
  }

  #finish(post: Post, body: HttpBodyReader | undefined, location: string | undefined): void {
    if (body?.isAcceptedStream === true) this.#interrupted(post, body, 'the stream ended without a response')
    else if (body !== undefined) this.#finishBody(post, body, location)
    if (isInitialized(post.message)) this.#streams.sessionInitialized()
    post.settle()
  }

  #fail(post: Post, body: HttpBodyReader | undefined, error: Error): void {
    const message = errorMessage(error)
    if (body !== undefined) return this.#interrupted(post, body, `the response broke off: ${message}`)
    const why = `the request to ${this.#url.origin} failed: ${message}`
    this.#lose(post, why)
    if (post.keys.length === 0) this.#handlers.onRejected?.(why)
    post.settle()
  }

  #finishBody(post: Post, body: HttpBodyReader, location: string | undefined): void {
    const { status } = body
    const text = body.text()
    const isSessionLost = status === 404 && this.#headers.isInSession
    const refusal = { status, body: text, location, isSessionLost }
    if (text !== '' && (status < 300 || isErrorResponse(post, refusal))) this.#receive(text, post.key)
    this.#lose(post, describeRefusal(refusal), refusal)
    if (status >= 300 && post.keys.length === 0)
      this.#handlers.onRejected?.(describeRefusal(refusal), refusal)
  }

  /** The stream ended before the response arrived. If its events had ids, the server continues it in another stream. */
  #interrupted(post: Post, { position }: HttpBodyReader, why: string): void {
    post.settle()
    if (position.lastEventId === undefined || this.#isClosed) return this.#lose(post, why)
    if (!this.#isAwaited(post)) return
    post.resumed = this.#streams.resume(position, {
      onText: (text) => this.#receive(text, post.key),
      onGone: (reason) => this.#lose(post, `${why}, and it could not be continued: ${reason}`),
    })
  }

  #lose({ keys }: Post, why: string, refusal?: HttpRefusal): void {
    for (const key of keys) {
      if (!this.#posts.has(key)) continue
      this.#forget(key)
      this.#handlers.onLost(key, why, refusal)
    }
  }

  /** A server may not support this, or never respond. */
  #deleteSession(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(), DELETE_TIMEOUT_MS)
      const done = (): void => {
        clearTimeout(timer)
        resolve()
      }
      this.#requests.send(
        { method: 'DELETE', headers: this.#headers.forDelete() },
        { onHead: () => {}, onBody: () => {}, onEnd: done, onFail: done },
      )
    })
  }
}

const DELETE_TIMEOUT_MS = 1000

/** The response to an exchange, which is given away without a `Post` as long as it is one JSON body. */
class DirectResponse implements ResponseHandlers {
  readonly #link: StreamableHttpLink
  readonly #exchange: LinkExchange
  #isEqual = false
  /** What arrived first, if it is to be remembered. */
  #received: string | undefined
  #other: ResponseHandlers | undefined
  #body: Buffer | undefined

  constructor(link: StreamableHttpLink, exchange: LinkExchange) {
    this.#link = link
    this.#exchange = exchange
  }

  isKnown(received: Buffer, bytes: number): boolean {
    const { known, id } = this.#exchange
    if (known === undefined) return false
    this.#isEqual = known.has(received, bytes, id)
    if (!this.#isEqual && known.isLearning()) this.#received = received.toString('latin1', 0, bytes)
    return this.#isEqual
  }

  onHead(head: HttpResponseHead): void {
    this.#exchange.responding()
    if (!head.isKept) this.#received = undefined
    if (isJsonAnswer(head)) return
    this.#exchange.differs()
    this.#other = this.#link.postOf(this.#exchange)
    this.#other.onHead(head)
  }

  onBody(chunk: Buffer): void {
    if (this.#other !== undefined) return this.#other.onBody(chunk)
    this.#body = this.#body === undefined ? chunk : Buffer.concat([this.#body, chunk])
  }

  onEnd(): void {
    if (this.#other !== undefined) return this.#other.onEnd()
    const exchange = this.#exchange
    if (this.#isEqual) return exchange.answeredAsKnown()
    const body = this.#body ?? NO_BYTES
    const isGood = exchange.answered(body.toString('utf8'))
    if (isGood && this.#received !== undefined)
      exchange.known?.learn(this.#received, { bodyBytes: body.length, id: exchange.id })
  }

  onFail(error: Error): void {
    if (this.#other === undefined) this.#exchange.differs()
    ;(this.#other ?? this.#link.postOf(this.#exchange)).onFail(error)
  }
}

const NO_BYTES: Buffer = Buffer.alloc(0)

function isJsonAnswer(head: HttpResponseHead): boolean {
  if (head === lastJsonHead) return true // equal heads are parsed once
  const type = findHeader(head.headers, 'content-type') ?? ''
  const isJson = head.status === 200 && /^application\/json\b/i.test(type) && head.body.kind === 'length'
  if (isJson) lastJsonHead = head
  return isJson
}

let lastJsonHead: HttpResponseHead | undefined

/** A message that was posted, until its responses have arrived. */
class Post {
  readonly message: Message
  /** The id keys of the requests in it. */
  readonly keys: readonly string[]
  readonly isInitialize: boolean
  request: OpenRequest | undefined
  /** The stream that continues an interrupted one. */
  resumed: OpenStream | undefined
  #onSettled: (() => void) | undefined

  constructor(message: Message, onSettled: (() => void) | undefined) {
    this.message = message
    this.keys = requestKeys(message)
    this.isInitialize = message.kind === 'request' && message.method === 'initialize'
    this.#onSettled = onSettled
  }

  /** The id key of a message that is a single request. */
  get key(): string | undefined {
    return this.message.kind === 'request' ? this.keys[0] : undefined
  }

  /** A request is settled when it is on its way; `initialize` with its response, which opens the session; any other message when it was accepted. */
  get onSent(): (() => void) | undefined {
    if (this.#onSettled === undefined || this.isInitialize || this.keys.length === 0) return undefined
    return () => this.settle()
  }

  settle(): void {
    const onSettled = this.#onSettled
    this.#onSettled = undefined
    onSettled?.()
  }
}

function isInitialized(message: Message): boolean {
  return 'method' in message && message.method === 'notifications/initialized'
}

function closingCancels(message: Message): boolean {
  return 'params' in message && revisionOfRequest(message.params).closingCancels
}

/** Whether the body of an HTTP error is the response to a request. A missing token and a lost session concern the whole link. */
function isErrorResponse({ keys }: Post, { status, body, isSessionLost }: HttpRefusal): boolean {
  return status !== 401 && !isSessionLost && responseKeys(body).some((key) => keys.includes(key))
}

function describeRefusal({ status, body }: HttpRefusal): string {
  const nothing = status < 300 ? ' without a response' : ''
  const detail = body.trim() === '' ? nothing : `: ${body.trim().slice(0, 200)}`
  const hint = STATUS_HINTS[status] ?? (status >= 300 && status < 400 ? REDIRECT_HINT : '')
  return `the server answered HTTP ${status}${hint}${detail}`
}

const STATUS_HINTS: Readonly<Record<number, string>> = {
  401: ' (unauthorized)',
  404: ' (there is no such endpoint, or the session has ended)',
}
const REDIRECT_HINT = ' (a redirect that is not followed: give the new address instead)'

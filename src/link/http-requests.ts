import {
  type HttpExchange,
  type RequestHead,
  requestHead,
  type ResponseHandlers,
  HttpClient,
} from '../http/client/http-client.ts'
import type { HttpResponseHead } from '../http/client/response-reader.ts'
import { type AddedHeader, findHeader, type RawHeaders, withAddedHeaders } from '../http/headers.ts'
import type { BodyWatcher, ExchangeWatcher, RequestLine } from '../http/proxy/proxied-exchange.ts'
import { parseJson, member } from '../json/parse.ts'
import type { Message } from '../protocol/message.ts'
import { revisionOfRequest } from '../protocol/revisions/index.ts'
import type { PostContext } from '../protocol/revisions/revision.ts'

export interface HttpLinkOptions {
  /** The endpoint of the server. */
  readonly url: URL
  /** Added to every request, in place of headers of the same name. They are sent to the origin of `url` only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Observes every exchange. It is not shown the added headers, because they may hold a token. */
  readonly watch?: (line: RequestLine) => ExchangeWatcher
}

interface LinkRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** By default the endpoint of the server. */
  readonly url?: URL
  readonly headers: RawHeaders
  readonly body?: string
}

interface DirectBody {
  readonly text: string
  readonly isAscii: boolean
}

/** A request that is under way. */
export interface OpenRequest {
  /** Gives the request up. Its handlers are not called any more. */
  abort(): void
}

/** Sends the HTTP requests of a link: adds headers, follows redirects within the origin, and shows every exchange to the watcher. */
export class HttpRequests {
  readonly #context: RequestContext

  constructor(options: HttpLinkOptions) {
    this.#context = { options, client: new HttpClient(), heads: new RequestHeads(options), open: new Set() }
  }

  send(request: LinkRequest, handlers: ResponseHandlers): OpenRequest {
    return new SentRequest(this.#context, request, handlers)
  }

  /** Sends a POST without following redirects or showing it to a watcher. Returns false if there is a watcher. */
  exchange(headers: RawHeaders, { text, isAscii }: DirectBody, handlers: ResponseHandlers): boolean {
    const { options, client, heads } = this.#context
    if (options.watch !== undefined) return false
    client.send(options.url, heads.format('POST', options.url, headers), handlers).end(text, isAscii)
    return true
  }

  /** Gives up everything that is under way. */
  abortAll(): void {
    for (const request of this.#context.open) request.abort()
  }

  close(): void {
    this.abortAll()
    this.#context.client.close()
  }
}

interface RequestContext {
  readonly options: HttpLinkOptions
  readonly client: HttpClient
  readonly heads: RequestHeads
  readonly open: Set<OpenRequest>
}

/** Formats request heads. Most requests of a session have the same, which is then formatted once. */
class RequestHeads {
  readonly #added: readonly AddedHeader[]
  #last: { readonly url: URL; readonly headers: RawHeaders; readonly head: RequestHead } | undefined

  constructor({ headers = {} }: HttpLinkOptions) {
    this.#added = Object.entries(headers).map(([name, value]) => ({ name, value }))
  }

  /** Throws if the head cannot be sent. */
  format(method: string, url: URL, headers: RawHeaders): RequestHead {
    const last = this.#last
    if (last?.headers === headers && last.url === url && last.head.method === method) return last.head
    const sent = withAddedHeaders(['host', url.host, ...headers], this.#added)
    const head = requestHead(method, url.pathname + url.search, sent)
    this.#last = { url, headers, head }
    return head
  }
}

/** One request, and those that follow it to where the server redirects. */
class SentRequest implements OpenRequest, ResponseHandlers {
  readonly onSent: (() => void) | undefined
  readonly #context: RequestContext
  readonly #request: LinkRequest
  readonly #handlers: ResponseHandlers
  #url: URL
  #exchange: HttpExchange | undefined
  #watcher: ExchangeWatcher | undefined
  #body: BodyWatcher | undefined
  #next: URL | undefined
  #redirects = 0

  constructor(context: RequestContext, request: LinkRequest, handlers: ResponseHandlers) {
    this.#context = context
    this.#request = request
    this.#handlers = handlers
    this.onSent = handlers.onSent
    this.#url = request.url ?? context.options.url
    context.open.add(this)
    this.#start()
  }

  abort(): void {
    const watcher = this.#watcher
    this.#exchange?.abort()
    this.#finish()
    watcher?.aborted('client')
  }

  onHead(head: HttpResponseHead): void {
    this.#body = this.#watcher?.answered(head.status, head.headers)
    this.#next = this.#redirects < MAX_REDIRECTS ? redirectTarget(head, this.#url) : undefined
    if (this.#next === undefined) this.#handlers.onHead(head)
  }

  onBody(bytes: Buffer): void {
    this.#body?.chunk(bytes)
    if (this.#next === undefined) this.#handlers.onBody(bytes)
  }

  onEnd(): void {
    this.#body?.end()
    this.#body = undefined
    if (this.#next === undefined) {
      this.#finish()
      return this.#handlers.onEnd()
    }
    this.#url = this.#next
    this.#redirects++
    this.#start()
  }

  onFail(error: Error): void {
    if (this.#body === undefined) this.#watcher?.unreachable(error.message)
    else this.#watcher?.aborted('server')
    this.#finish()
    this.#handlers.onFail(error)
  }

  #start(): void {
    const { client, heads, options } = this.#context
    const { method, headers, body } = this.#request
    try {
      const head = heads.format(method, this.#url, headers)
      this.#watcher = options.watch?.({ method, path: this.#url.pathname + this.#url.search, headers })
      this.#exchange = client.send(this.#url, head, this)
    } catch (error) {
      return queueMicrotask(() => this.onFail(error instanceof Error ? error : new Error(String(error))))
    }
    if (body !== undefined) this.#watcher?.request.chunk(Buffer.from(body))
    this.#watcher?.request.end()
    this.#exchange.end(body)
  }

  #finish(): void {
    this.#watcher = undefined
    this.#exchange = undefined
    this.#context.open.delete(this)
  }
}

const MAX_REDIRECTS = 3

/** The address that a server has moved to; undefined unless it is of the same origin, where the added headers may go. */
function redirectTarget({ status, headers }: HttpResponseHead, base: URL): URL | undefined {
  if (status !== 307 && status !== 308) return undefined
  const location = findHeader(headers, 'location')
  if (location === undefined || !URL.canParse(location, base.href)) return undefined
  const target = new URL(location, base)
  return target.origin === base.origin ? target : undefined
}

/** Returns the input schema of a tool. Arguments that it marks with `x-mcp-header` are repeated as headers. */
export type InputSchemaOf = (tool: string) => unknown

type HeaderRecord = Readonly<Record<string, string>>

/** The headers of the requests of one session. Session id and protocol version become known with the response to `initialize`. */
export class SessionHeaders {
  readonly #inputSchemas = new Map<string, unknown>()
  readonly #inputSchemaOf: InputSchemaOf
  #session: HeaderRecord = {}
  #sessionPost: RawHeaders = POST_HEADERS
  #context: PostContext

  /** The schema of a tool that the server has listed comes before the one that is given here. */
  constructor(inputSchemaOf: InputSchemaOf = () => undefined) {
    this.#inputSchemaOf = (tool) => this.#inputSchemas.get(tool) ?? inputSchemaOf(tool)
    this.#context = { sessionHeaders: this.#session, inputSchemaOf: this.#inputSchemaOf }
  }

  get isInSession(): boolean {
    return SESSION_ID in this.#session
  }

  /** For a POST of this message. Messages of a session get the same list each time, so that it is formatted only once. */
  forMessage(message: Message): RawHeaders {
    if (!('method' in message)) return this.#sessionPost
    const headers = revisionOfRequest(message.params).postHeaders(message, this.#context)
    return headers === this.#session
      ? this.#sessionPost
      : [...POST_HEADERS, ...Object.entries(headers).flat()]
  }

  /** For a GET of an event stream, which may continue after an event. */
  forStream(lastEventId: string | undefined): RawHeaders {
    const resumed = lastEventId === undefined ? [] : ['last-event-id', lastEventId]
    return [...STREAM_HEADERS, ...this.forDelete(), ...resumed]
  }

  /** For the DELETE that ends the session. */
  forDelete(): RawHeaders {
    return Object.entries(this.#session).flat()
  }

  setSession(id: string): void {
    this.#add(SESSION_ID, id)
  }

  /** Takes what the response to a request says about later requests. */
  learn(method: string, response: string): void {
    if (method === 'initialize') this.#learnVersion(member(resultIn(response), 'protocolVersion'))
    else if (method === 'tools/list') this.#learnTools(member(resultIn(response), 'tools'))
  }

  #learnVersion(version: unknown): void {
    if (typeof version === 'string') this.#add('mcp-protocol-version', version)
  }

  #learnTools(tools: unknown): void {
    if (!Array.isArray(tools)) return
    for (const tool of tools as readonly unknown[]) {
      const name = member(tool, 'name')
      if (typeof name === 'string') this.#inputSchemas.set(name, member(tool, 'inputSchema'))
    }
  }

  #add(name: string, value: string): void {
    this.#session = { ...this.#session, [name]: value }
    this.#sessionPost = [...POST_HEADERS, ...Object.entries(this.#session).flat()]
    this.#context = { sessionHeaders: this.#session, inputSchemaOf: this.#inputSchemaOf }
  }
}

const SESSION_ID = 'mcp-session-id'
const IDENTITY: RawHeaders = ['accept-encoding', 'identity']

export const STREAM_HEADERS: RawHeaders = ['accept', 'text/event-stream', ...IDENTITY]

export const POST_HEADERS: RawHeaders = [
  'content-type',
  'application/json',
  'accept',
  'application/json, text/event-stream',
  ...IDENTITY,
]

function resultIn(response: string): unknown {
  return member(parseJson(response), 'result')
}

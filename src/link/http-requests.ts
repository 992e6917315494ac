import {
  type HttpExchange,
  type RequestHead,
  requestHead,
  type ResponseHandlers,
} from '../http/client/connection.ts'
import { HttpClient } from '../http/client/http-client.ts'
import type { HttpResponseHead } from '../http/client/response-reader.ts'
import { type AddedHeader, findHeader, type RawHeaders, withAddedHeaders } from '../http/headers.ts'
import type { BodyWatcher, ExchangeWatcher, RequestLine } from '../http/proxy/proxied-exchange.ts'

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
    this.#exchange.end(body)
    if (body !== undefined) this.#watcher?.request.chunk(Buffer.from(body))
    this.#watcher?.request.end()
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

import { HttpClient, type PendingHttpRequest, type HttpRequest } from '../http/client/http-client.ts'
import { parseJson } from '../json/parse.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import {
  type InterruptedStream,
  type RetryScheduler,
  ServerEventStreams,
  HttpBodyReader,
  ReconnectDelay,
} from './event-streams.ts'
import { SessionHeaders, type SessionHeadersOptions } from './session-headers.ts'
import { numericIdOfResult, idKey } from '../protocol/id.ts'
import { revisionOfRequest } from '../protocol/revisions/index.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'

export interface StreamableHttpLinkOptions extends SessionHeadersOptions {
  readonly url: URL
  /** When to come back to a stream that ended. */
  readonly later?: RetryScheduler
}

/** A link over Streamable HTTP, in both its forms: every message says by itself which one it wants. */
export function streamableHttpLink(options: StreamableHttpLinkOptions): OpenLink {
  return async (handlers) => new StreamableHttpLink(options, handlers)
}

class StreamableHttpLink implements ClientLink {
  readonly #url: URL
  readonly #handlers: LinkHandlers
  readonly #client = new HttpClient()
  readonly #headers: SessionHeaders
  readonly #streams: ServerEventStreams
  readonly #exchanges = new Map<string, OpenExchange>()
  #isClosed = false

  constructor(options: StreamableHttpLinkOptions, handlers: LinkHandlers) {
    this.#url = options.url
    this.#handlers = handlers
    this.#headers = new SessionHeaders(options)
    this.#streams = new ServerEventStreams({
      client: this.#client,
      url: options.url,
      headers: () => this.#headers.withoutMessage(),
      onText: (text, of) => this.#receive(text, of),
      later: options.later,
    })
  }

  send(text: string, message: Message = classifyMessage(parseJson(text))): void {
    const key = message.kind === 'request' ? idKey(message.id) : undefined
    // What the server tells as soon as it is greeted would otherwise come before anybody listens.
    if (isInitializedNotification(message)) this.#streams.openStanding()
    const exchange = this.#post(text, message, key)
    const closingCancels = 'params' in message && revisionOfRequest(message.params).closingCancels
    if (key !== undefined) this.#exchanges.set(key, { exchange, closingCancels })
  }

  // Without `closingCancels` a closed stream means nothing: the client may come back for the rest.
  abort(key: string): boolean {
    const open = this.#exchanges.get(key)
    if (open?.closingCancels !== true) return false
    this.#exchanges.delete(key)
    open.exchange.abort()
    return true
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#headers.isInSession)
      await deleteSession(this.#client, { url: this.#url, headers: this.#headers.withoutMessage() })
    this.#streams.close()
    this.#client.close()
  }

  #post(text: string, message: Message, key: string | undefined): PendingHttpRequest {
    const headers = this.#headers.forMessage(message)
    const delay = new ReconnectDelay()
    let answer: HttpBodyReader | undefined
    let lastEventId: string | undefined
    const cut = (): InterruptedStream | undefined =>
      lastEventId === undefined ? undefined : { lastEventId, delay }
    return this.#client.send(
      { method: 'POST', url: this.#url, headers, body: text },
      {
        onHead: (head) => {
          this.#headers.learnFromHead(head)
          answer = new HttpBodyReader(head, {
            onText: (heard) => this.#receive(heard, key),
            onEventId: (id) => (lastEventId = id),
            onRetry: (milliseconds) => delay.setBase(milliseconds),
          })
        },
        onBody: (chunk) => answer?.push(chunk),
        onEnd: () => this.#finishPost({ answer, key, message, cut: cut() }),
        onError: (why) => this.#resumeOrLose(key, cut(), why),
      },
    )
  }

  #receive(text: string, key?: string): void {
    this.#headers.learnFromText(text)
    if (key !== undefined && this.#exchanges.has(key) && answeredRequestKey(text) === key) this.#forget(key)
    this.#handlers.onText(text, key)
  }

  #forget(key: string): void {
    this.#exchanges.delete(key)
    this.#streams.stopResuming(key)
  }

  #finishPost({ answer, key, message, cut }: FinishedPost): void {
    if (answer?.isStream === false) this.#finishBody(answer, key)
    else this.#resumeOrLose(key, cut, 'the stream ended without an answer')
    if (isInitializedNotification(message)) this.#streams.sessionInitialized()
  }

  #finishBody(answer: HttpBodyReader, key: string | undefined): void {
    const { status } = answer
    const body = answer.body()
    if (body !== '' && (status < 300 || answeredRequestKey(body) === key)) this.#receive(body, key)
    this.#reportLost(key, describeHttpResponse(status, body), status)
  }

  /** The stream ended before the answer came: a server that lets its client poll goes on in another one. */
  #resumeOrLose(key: string | undefined, cut: InterruptedStream | undefined, why: string): void {
    if (cut === undefined || this.#isClosed) return this.#reportLost(key, why)
    if (key === undefined || !this.#exchanges.has(key)) return
    const onRefused = (status: number): void =>
      this.#reportLost(key, `${why}, and HTTP ${status} was all that came when it was asked for the rest`)
    this.#streams.resume(key, cut, onRefused)
  }

  #reportLost(key: string | undefined, why: string, status?: number): void {
    if (key === undefined || !this.#exchanges.has(key)) return
    this.#forget(key)
    this.#handlers.onLost(key, why, status)
  }
}

interface OpenExchange {
  readonly exchange: PendingHttpRequest
  readonly closingCancels: boolean
}

/** A message that was posted, and how it was answered. */
interface FinishedPost {
  readonly answer: HttpBodyReader | undefined
  readonly key: string | undefined
  readonly message: Message
  readonly cut: InterruptedStream | undefined
}

function isInitializedNotification(message: Message): boolean {
  return 'method' in message && message.method === 'notifications/initialized'
}

/** The key of the request that a text answers; undefined when it answers none that can be told. */
function answeredRequestKey(text: string): string | undefined {
  const id = numericIdOfResult(text)
  if (id !== undefined) return idKey(id)
  const message = classifyMessage(parseJson(text))
  return message.kind === 'response' && message.id !== null ? idKey(message.id) : undefined
}

/** What to say of an HTTP answer in which there was no answer to the request. */
function describeHttpResponse(status: number, body: string): string {
  const nothing = status < 300 ? ' and said nothing' : ''
  const said = body.trim() === '' ? nothing : `: ${body.trim().slice(0, 200)}`
  const hint = STATUS_HINTS[status] ?? (status >= 300 && status < 400 ? REDIRECT_HINT : '')
  return `the server answered HTTP ${status}${hint}${said}`
}

const STATUS_HINTS: Readonly<Record<number, string>> = {
  401: ' (the server wants a token: give it with --header)',
  404: ' (nothing is there, or the session is over)',
}
const REDIRECT_HINT = ' (it is at another address, which is not followed: name that one)'

/** Ends a session; a server that does not want to be told says so, and that is all. */
function deleteSession(client: HttpClient, where: Pick<HttpRequest, 'url' | 'headers'>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(), DELETE_TIMEOUT_MS)
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    client.send(
      { method: 'DELETE', ...where },
      { onHead: done, onBody: () => {}, onEnd: done, onError: done },
    )
  })
}

/** Milliseconds that a server may take to hear of it. */
const DELETE_TIMEOUT_MS = 1000

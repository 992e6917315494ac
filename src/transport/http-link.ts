import { plainAnswerId } from '../wire/edge-id.ts'
import { idKey } from '../wire/id.ts'
import { classify, type Message } from '../wire/message.ts'
import { isEnveloped } from '../wire/methods.ts'
import { parseJson } from '../wire/parse-json.ts'
import { answerInWords } from './answer-in-words.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import { HttpClient, type HttpExchange } from './http1/client.ts'
import { leaveSession } from './leave-session.ts'
import type { CutStream, Later } from './listening-stream.ts'
import { ListeningStreams } from './listening-streams.ts'
import { PostedAnswer } from './posted-answer.ts'
import { ReconnectDelay } from './reconnect-delay.ts'
import { SessionHeaders, type SessionHeadersOptions } from './session-headers.ts'

export interface HttpLinkOptions extends SessionHeadersOptions {
  readonly url: URL
  /** When to come back to a stream that ended. */
  readonly later?: Later
}

/** A link over Streamable HTTP, in both its forms: every message says by itself which one it wants. */
export function httpLink(options: HttpLinkOptions): OpenLink {
  return async (handlers) => new HttpLink(options, handlers)
}

class HttpLink implements ClientLink {
  readonly #url: URL
  readonly #handlers: LinkHandlers
  readonly #client = new HttpClient()
  readonly #headers: SessionHeaders
  readonly #streams: ListeningStreams
  readonly #exchanges = new Map<string, OpenExchange>()
  #isClosed = false

  constructor(options: HttpLinkOptions, handlers: LinkHandlers) {
    this.#url = options.url
    this.#handlers = handlers
    this.#headers = new SessionHeaders(options)
    this.#streams = new ListeningStreams({
      client: this.#client,
      url: options.url,
      headers: () => this.#headers.bare(),
      onText: (text, of) => this.#hear(text, of),
      later: options.later,
    })
  }

  send(text: string, message: Message = classify(parseJson(text))): void {
    const key = message.kind === 'request' ? idKey(message.id) : undefined
    // What the server tells as soon as it is greeted would otherwise come before anybody listens.
    if (isGreeting(message)) this.#streams.stand()
    const exchange = this.#post(text, message, key)
    const isModern = 'params' in message && isEnveloped(message.params)
    if (key !== undefined) this.#exchanges.set(key, { exchange, isModern })
  }

  // In the legacy era a closed stream means nothing: the client may come back for the rest.
  abort(key: string): boolean {
    const open = this.#exchanges.get(key)
    if (open?.isModern !== true) return false
    this.#exchanges.delete(key)
    open.exchange.abort()
    return true
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#headers.isInSession)
      await leaveSession(this.#client, { url: this.#url, headers: this.#headers.bare() })
    this.#streams.close()
    this.#client.close()
  }

  #post(text: string, message: Message, key: string | undefined): HttpExchange {
    const headers = this.#headers.forMessage(message)
    const delay = new ReconnectDelay()
    let answer: PostedAnswer | undefined
    let lastEventId: string | undefined
    const cut = (): CutStream | undefined => (lastEventId === undefined ? undefined : { lastEventId, delay })
    return this.#client.send(
      { method: 'POST', url: this.#url, headers, body: text },
      {
        onHead: (head) => {
          this.#headers.hearHead(head)
          answer = new PostedAnswer(head, {
            onText: (heard) => this.#hear(heard, key),
            onEventId: (id) => (lastEventId = id),
            onRetry: (milliseconds) => delay.told(milliseconds),
          })
        },
        onBody: (chunk) => answer?.push(chunk),
        onEnd: () => this.#end({ answer, key, message, cut: cut() }),
        onError: (why) => this.#goOn(key, cut(), why),
      },
    )
  }

  #hear(text: string, key?: string): void {
    this.#headers.hearText(text)
    if (key !== undefined && this.#exchanges.has(key) && answeredBy(text) === key) this.#isOver(key)
    this.#handlers.onText(text, key)
  }

  #isOver(key: string): void {
    this.#exchanges.delete(key)
    this.#streams.leave(key)
  }

  #end({ answer, key, message, cut }: Posted): void {
    if (answer?.isStream === false) this.#endOfBody(answer, key)
    else this.#goOn(key, cut, 'the stream ended without an answer')
    if (isGreeting(message)) this.#streams.greeted()
  }

  #endOfBody(answer: PostedAnswer, key: string | undefined): void {
    const { status } = answer
    const body = answer.body()
    if (body !== '' && (status < 300 || answeredBy(body) === key)) this.#hear(body, key)
    this.#lose(key, answerInWords(status, body), status)
  }

  /** The stream ended before the answer came: a server that lets its client poll goes on in another one. */
  #goOn(key: string | undefined, cut: CutStream | undefined, why: string): void {
    if (cut === undefined || this.#isClosed) return this.#lose(key, why)
    if (key === undefined || !this.#exchanges.has(key)) return
    const onRefused = (status: number): void =>
      this.#lose(key, `${why}, and HTTP ${status} was all that came when it was asked for the rest`)
    this.#streams.resume(key, cut, onRefused)
  }

  #lose(key: string | undefined, why: string, status?: number): void {
    if (key === undefined || !this.#exchanges.has(key)) return
    this.#isOver(key)
    this.#handlers.onLost(key, why, status)
  }
}

interface OpenExchange {
  readonly exchange: HttpExchange
  readonly isModern: boolean
}

/** A message that was posted, and how it was answered. */
interface Posted {
  readonly answer: PostedAnswer | undefined
  readonly key: string | undefined
  readonly message: Message
  readonly cut: CutStream | undefined
}

function isGreeting(message: Message): boolean {
  return 'method' in message && message.method === 'notifications/initialized'
}

/** The key of the request that a text answers; undefined when it answers none that can be told. */
function answeredBy(text: string): string | undefined {
  const id = plainAnswerId(text)
  if (id !== undefined) return idKey(id)
  const message = classify(parseJson(text))
  return message.kind === 'response' && message.id !== null ? idKey(message.id) : undefined
}

import { plainAnswerId } from '../wire/edge-id.ts'
import { idKey } from '../wire/id.ts'
import { mirroredHeaders } from '../wire/mirrored-headers.ts'
import { classify, member, type Message } from '../wire/message.ts'
import { isEnveloped } from '../wire/methods.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import { HttpClient, type HttpExchange } from './http1/client.ts'
import { headerOf } from './http-heads.ts'
import { ListeningStream, type CutStream, type Later, type ListeningOptions } from './listening-stream.ts'
import { PostedAnswer } from './posted-answer.ts'
import { ReconnectDelay } from './reconnect-delay.ts'
import type { ResponseHead } from './response-head.ts'

export interface HttpLinkOptions {
  readonly url: URL
  /** Sent with every request; never to another origin, because redirects are not followed. */
  readonly headers?: Readonly<Record<string, string>>
  /** The input schema of a tool, whose `x-mcp-header` arguments are repeated as headers. */
  readonly inputSchemaOf?: (tool: string) => unknown
  /** When to come back to a stream that ended. */
  readonly later?: Later
}

/** A link over Streamable HTTP, in both its forms: every message says by itself which one it wants. */
export function httpLink(options: HttpLinkOptions): OpenLink {
  return async (handlers) => new HttpLink(options, handlers)
}

class HttpLink implements ClientLink {
  readonly #options: HttpLinkOptions
  readonly #handlers: LinkHandlers
  readonly #client = new HttpClient()
  readonly #exchanges = new Map<string, OpenExchange>()
  /** By which the server speaks of its own accord. */
  #standing: ListeningStream | undefined
  /** By which it goes on with what the answer to a request was cut off from. */
  readonly #resumed = new Map<string, ListeningStream>()
  #session: string | undefined
  #version: string | undefined
  #common: Readonly<Record<string, string>> | undefined
  #lastHead: ResponseHead | undefined
  #isGreeted = false
  #isClosed = false

  constructor(options: HttpLinkOptions, handlers: LinkHandlers) {
    this.#options = options
    this.#handlers = handlers
  }

  send(text: string, message: Message = classify(parseJson(text))): void {
    const key = message.kind === 'request' ? idKey(message.id) : undefined
    const headers = this.#headersFor(message)
    const { url } = this.#options
    // What the server tells as soon as it is greeted would otherwise come before anybody listens.
    if (isGreeting(message)) this.#stand()
    const delay = new ReconnectDelay()
    let answer: PostedAnswer | undefined
    let lastEventId: string | undefined
    const cut = (): CutStream | undefined => (lastEventId === undefined ? undefined : { lastEventId, delay })
    const exchange = this.#client.send(
      { method: 'POST', url, headers, body: text },
      {
        onHead: (head) => {
          if (this.#session === undefined && head !== this.#lastHead) this.#noteSession(head)
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
    if (this.#session !== undefined) await this.#leave()
    for (const stream of [...this.#resumed.values(), this.#standing]) stream?.close()
    this.#client.close()
  }

  #headersFor(message: Message): Readonly<Record<string, string>> {
    if (!('method' in message) || !isEnveloped(message.params)) return this.#postHeaders()
    const { method, params } = message
    const tool = String(member(params, 'name'))
    const own = mirroredHeaders(method, params, this.#options.inputSchemaOf?.(tool))
    return { ...COMMON, ...own, ...this.#options.headers }
  }

  // The same object as long as it holds the same: the client knows it again, and does not write it anew.
  #postHeaders(): Readonly<Record<string, string>> {
    this.#common ??= { ...COMMON, ...this.#sessionHeaders() }
    return this.#common
  }

  #noteSession(head: ResponseHead): void {
    this.#lastHead = head
    this.#session = headerOf(head.headers, 'mcp-session-id')
    this.#common = undefined
  }

  #sessionHeaders(): Readonly<Record<string, string>> {
    return {
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
      ...this.#options.headers,
    }
  }

  #hear(text: string, key?: string): void {
    if (this.#version === undefined && text.includes('"protocolVersion"')) this.#noteVersion(text)
    if (key !== undefined && this.#exchanges.has(key) && answeredBy(text) === key) this.#isOver(key)
    this.#handlers.onText(text, key)
  }

  #isOver(key: string): void {
    this.#exchanges.delete(key)
    this.#resumed.get(key)?.close()
    this.#resumed.delete(key)
  }

  #noteVersion(text: string): void {
    const version = member(member(parseJson(text), 'result'), 'protocolVersion')
    if (typeof version === 'string') this.#version = version
    this.#common = undefined
  }

  #end({ answer, key, message, cut }: Posted): void {
    if (answer?.isStream === false) this.#endOfBody(answer, key)
    else this.#goOn(key, cut, 'the stream ended without an answer')
    if (!isGreeting(message)) return
    this.#isGreeted = true
    if (this.#standing === undefined) this.#stand()
  }

  /** A server that does not let us listen before it is greeted is asked again when it was. */
  #stand(): void {
    const isEarly = !this.#isGreeted
    const onRefused = (): void => {
      if (!isEarly) return
      this.#standing = undefined
      if (this.#isGreeted) this.#stand()
    }
    this.#standing ??= this.#listen({ onRefused })
  }

  /** The stream ended before the answer came: a server that lets its client poll goes on in another one. */
  #goOn(key: string | undefined, cut: CutStream | undefined, why: string): void {
    if (cut === undefined || this.#isClosed) return this.#lose(key, why)
    if (key === undefined || !this.#exchanges.has(key)) return
    const onRefused = (status: number): void =>
      this.#lose(key, `${why}, and HTTP ${status} was all that came when it was asked for the rest`)
    this.#resumed.set(key, this.#listen({ key, cut, onRefused }))
  }

  #listen({ key, ...options }: Listening): ListeningStream {
    const stream = new ListeningStream({
      client: this.#client,
      url: this.#options.url,
      headers: () => this.#sessionHeaders(),
      onText: (text) => this.#hear(text, key),
      later: this.#options.later ?? LATER,
      ...options,
    })
    stream.start()
    return stream
  }

  #endOfBody(answer: PostedAnswer, key: string | undefined): void {
    const { status } = answer
    const body = answer.body()
    if (body !== '' && (status < 300 || answeredBy(body) === key)) this.#hear(body, key)
    this.#lose(key, inWords(status, body), status)
  }

  #lose(key: string | undefined, why: string, status?: number): void {
    if (key === undefined || !this.#exchanges.has(key)) return
    this.#isOver(key)
    this.#handlers.onLost(key, why, status)
  }

  /** Ends the session; a server that does not want to be told says so, and that is all. */
  #leave(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(), LEAVING)
      const done = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const { url } = this.#options
      this.#client.send(
        { method: 'DELETE', url, headers: this.#sessionHeaders() },
        { onHead: done, onBody: () => {}, onEnd: done, onError: done },
      )
    })
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

/** What a stream is listened to for: the rest of an answer, or whatever comes. */
interface Listening extends Pick<ListeningOptions, 'cut' | 'onRefused'> {
  readonly key?: string
}

function isGreeting(message: Message): boolean {
  return 'method' in message && message.method === 'notifications/initialized'
}

const LATER: Later = (act, milliseconds) => void setTimeout(act, milliseconds).unref()

const COMMON = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** How long a server may take to hear that a session is over. */
const LEAVING = 1000

/** The key of the request that a text answers; undefined when it answers none that can be told. */
function answeredBy(text: string): string | undefined {
  const id = plainAnswerId(text)
  if (id !== undefined) return idKey(id)
  const message = classify(parseJson(text))
  return message.kind === 'response' && message.id !== null ? idKey(message.id) : undefined
}

function inWords(status: number, body: string): string {
  const nothing = status < 300 ? ' and said nothing' : ''
  const said = body.trim() === '' ? nothing : `: ${body.trim().slice(0, 200)}`
  const hint = HINTS[status] ?? (status >= 300 && status < 400 ? MOVED : '')
  return `the server answered HTTP ${status}${hint}${said}`
}

const HINTS: Readonly<Record<number, string>> = {
  401: ' (the server wants a token: give it with --header)',
  404: ' (nothing is there, or the session is over)',
}
const MOVED = ' (it is at another address, which is not followed: name that one)'

import { parseJson } from '../json/parse.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'
import {
  type ClientLink,
  type HttpRefusal,
  type LinkExchange,
  type LinkHandlers,
  type OpenLink,
  requestKeys,
  responseKeys,
} from './client-link.ts'
import { httpSseLink } from './http-sse.ts'
import { streamableHttpLink, type StreamableHttpLinkOptions } from './streamable-http.ts'

/**
 * A link over Streamable HTTP, or over HTTP+SSE if the server refuses the POST of `initialize` as a server of that transport
 * does. Only `initialize` is ever sent over both.
 */
export function urlLink(options: StreamableHttpLinkOptions): OpenLink {
  return async (handlers) => {
    const link = new UrlLink(options, handlers)
    await link.open()
    return link
  }
}

/** How a server of the HTTP+SSE transport answers a POST to the address of its stream. */
const LEGACY_STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 405])

interface UnsentMessage {
  readonly text: string
  readonly message: Message
  readonly onSettled: (() => void) | undefined
}

class UrlLink implements ClientLink {
  readonly #options: StreamableHttpLinkOptions
  readonly #handlers: LinkHandlers
  #link: ClientLink | undefined
  /** Set while `initialize`, the first message, has no response yet. Until then the transport is not known. */
  #initialize: (UnsentMessage & { readonly key: string | undefined }) | undefined
  #queue: UnsentMessage[] = []
  #hasSent = false
  #isClosed = false

  constructor(options: StreamableHttpLinkOptions, handlers: LinkHandlers) {
    this.#options = options
    this.#handlers = handlers
  }

  async open(): Promise<void> {
    this.#link = await streamableHttpLink(this.#options)({
      ...this.#handlers,
      onText: (text, of) => this.#receive(text, of),
      onLost: (key, why, refusal) => this.#onLost(key, why, refusal),
    })
  }

  send(text: string, message?: Message, onSettled?: () => void): void {
    if (this.#hasSent && this.#initialize === undefined) return this.#link?.send(text, message, onSettled)
    const unsent = { text, message: message ?? classifyMessage(parseJson(text)), onSettled }
    if (this.#initialize !== undefined) return void this.#queue.push(unsent)
    this.#hasSent = true
    if (!isInitialize(unsent.message)) return this.#link?.send(text, unsent.message, onSettled)
    this.#initialize = { ...unsent, key: requestKeys(unsent.message)[0] }
    this.#link?.send(text, unsent.message)
  }

  exchange(exchange: LinkExchange): boolean {
    const isKnown = this.#hasSent && this.#initialize === undefined
    return isKnown && this.#link?.exchange?.(exchange) === true
  }

  abort(key: string): boolean {
    return this.#link?.abort?.(key) ?? false
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#link?.close()
  }

  #receive(text: string, of: string | undefined): void {
    const key = this.#initialize?.key
    if (key !== undefined && responseKeys(text).includes(key)) this.#settle()
    this.#handlers.onText(text, of)
  }

  #onLost(key: string, why: string, refusal: HttpRefusal | undefined): void {
    if (key === this.#initialize?.key) {
      if (LEGACY_STATUSES.has(refusal?.status)) return void this.#fallBackToSse(key, why, refusal)
      this.#settle()
    }
    this.#handlers.onLost(key, why, refusal)
  }

  async #fallBackToSse(key: string, why: string, refusal: HttpRefusal | undefined): Promise<void> {
    const initialize = this.#initialize
    try {
      const link = await httpSseLink(this.#options)(this.#handlers)
      await this.#link?.close()
      this.#link = link
      if (this.#isClosed) return await link.close()
      link.send(initialize?.text ?? '', initialize?.message)
    } catch {
      this.#handlers.onLost(key, why, refusal) // the first refusal says more than the failure of the second attempt
    }
    this.#settle()
  }

  /** The transport is known: sends what had to wait. */
  #settle(): void {
    const onSettled = this.#initialize?.onSettled
    this.#initialize = undefined
    onSettled?.()
    for (const { text, message, onSettled: after } of this.#queue.splice(0))
      this.#link?.send(text, message, after)
  }
}

function isInitialize(message: Message): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}

import { member, classifyMessage, type Message } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import { streamableHttpLink, type StreamableHttpLinkOptions } from './streamable-http.ts'
import { httpSseLink } from './http-sse.ts'

/**
 * A link over Streamable HTTP, or over the legacy transport where the server takes no POST for its first message, as the
 * SDKs' clients do it. Nothing but `initialize` is ever sent to both.
 */
export function urlLink(options: StreamableHttpLinkOptions): OpenLink {
  return async (handlers) => {
    const link = new UrlLink(options, handlers)
    await link.open()
    return link
  }
}

/** How a server of the legacy transport answers a POST to the address of its stream. */
const LEGACY_STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 405])

class UrlLink implements ClientLink {
  readonly #options: StreamableHttpLinkOptions
  readonly #handlers: LinkHandlers
  #link: ClientLink | undefined
  #firstMessage: string | undefined
  /** What is to be sent after the opening has been answered. */
  #queued: string[] | undefined
  #isClosed = false

  constructor(options: StreamableHttpLinkOptions, handlers: LinkHandlers) {
    this.#options = options
    this.#handlers = handlers
  }

  async open(): Promise<void> {
    this.#link = await streamableHttpLink(this.#options)({
      onText: (text, of) => this.#receive(text, of),
      onLost: (key, why, status) => this.#onLost(key, why, status),
      onEnd: this.#handlers.onEnd,
    })
  }

  send(text: string, message?: Message): void {
    if (this.#queued !== undefined) return void this.#queued.push(text)
    if (this.#firstMessage === undefined) this.#noteFirstMessage(text)
    this.#link?.send(text, message)
  }

  abort(key: string): boolean {
    return this.#link?.abort?.(key) ?? false
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#link?.close()
  }

  #noteFirstMessage(text: string): void {
    this.#firstMessage = text
    const message = classifyMessage(parseJson(text))
    if (message.kind === 'request' && member(message, 'method') === 'initialize') this.#queued = []
  }

  #receive(text: string, of: string | undefined): void {
    this.#flush()
    this.#handlers.onText(text, of)
  }

  #onLost(key: string, why: string, status: number | undefined): void {
    if (this.#queued !== undefined && LEGACY_STATUSES.has(status)) return void this.#fallBackToSse(key, why)
    this.#flush()
    this.#handlers.onLost(key, why, status)
  }

  async #fallBackToSse(key: string, why: string): Promise<void> {
    try {
      const link = await httpSseLink(this.#options)(this.#handlers)
      await this.#link?.close()
      this.#link = link
      if (this.#isClosed) return await link.close()
      link.send(this.#firstMessage ?? '')
    } catch {
      this.#handlers.onLost(key, why) // the first refusal says more than that there is no stream either
    }
    this.#flush()
  }

  #flush(): void {
    const waiting = this.#queued ?? []
    this.#queued = undefined
    for (const text of waiting) this.#link?.send(text)
  }
}

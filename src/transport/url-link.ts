import { member, classify, type Message } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import { httpLink, type HttpLinkOptions } from './http-link.ts'
import { sseLink } from './sse-link.ts'

/**
 * A link over Streamable HTTP, or over the legacy transport where the server takes no POST for its first message, as the
 * SDKs' clients do it. Nothing but `initialize` is ever sent to both.
 */
export function urlLink(options: HttpLinkOptions): OpenLink {
  return async (handlers) => {
    const link = new UrlLink(options, handlers)
    await link.open()
    return link
  }
}

/** How a server of the legacy transport answers a POST to the address of its stream. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 404, 405])

class UrlLink implements ClientLink {
  readonly #options: HttpLinkOptions
  readonly #handlers: LinkHandlers
  #link: ClientLink | undefined
  #opening: string | undefined
  /** What is to be sent after the opening has been answered. */
  #waiting: string[] | undefined
  #isClosed = false

  constructor(options: HttpLinkOptions, handlers: LinkHandlers) {
    this.#options = options
    this.#handlers = handlers
  }

  async open(): Promise<void> {
    this.#link = await httpLink(this.#options)({
      onText: (text, of) => this.#hear(text, of),
      onLost: (key, why, status) => this.#lose(key, why, status),
      onEnd: this.#handlers.onEnd,
    })
  }

  send(text: string, message?: Message): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(text)
    if (this.#opening === undefined) this.#begin(text)
    this.#link?.send(text, message)
  }

  abort(key: string): boolean {
    return this.#link?.abort?.(key) ?? false
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#link?.close()
  }

  #begin(text: string): void {
    this.#opening = text
    const message = classify(parseJson(text))
    if (message.kind === 'request' && member(message, 'method') === 'initialize') this.#waiting = []
  }

  #hear(text: string, of: string | undefined): void {
    this.#flush()
    this.#handlers.onText(text, of)
  }

  #lose(key: string, why: string, status: number | undefined): void {
    if (this.#waiting !== undefined && REFUSALS.has(status)) return void this.#goLegacy(key, why)
    this.#flush()
    this.#handlers.onLost(key, why, status)
  }

  async #goLegacy(key: string, why: string): Promise<void> {
    try {
      const link = await sseLink(this.#options)(this.#handlers)
      await this.#link?.close()
      this.#link = link
      if (this.#isClosed) return await link.close()
      link.send(this.#opening ?? '')
    } catch {
      this.#handlers.onLost(key, why) // the first refusal says more than that there is no stream either
    }
    this.#flush()
  }

  #flush(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const text of waiting) this.#link?.send(text)
  }
}

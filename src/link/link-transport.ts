import { ReelayError } from '../errors.ts'
import type { ClientLink, OpenLink } from './client-link.ts'
import type { AnyTransport } from './sdk-transport.ts'

/** A transport for the clients of both SDKs over a link: a server process or a URL. */
export function openLinkTransport(open: OpenLink): AnyTransport {
  return new LinkTransport(open)
}

class LinkTransport implements AnyTransport {
  onmessage: AnyTransport['onmessage']
  onclose: AnyTransport['onclose']
  onerror: AnyTransport['onerror']
  readonly #open: OpenLink
  #link: ClientLink | undefined
  #isClosed = false

  constructor(open: OpenLink) {
    this.#open = open
  }

  async start(): Promise<void> {
    this.#link = await this.#open({
      onText: (text) => this.#receive(text),
      onLost: (_, why) => this.onerror?.(new Error(why)),
      onRejected: (why) => this.onerror?.(new Error(why)),
      onEnd: () => this.#ended(),
    })
  }

  async send(message: unknown): Promise<void> {
    if (this.#link === undefined || this.#isClosed)
      throw new ReelayError('USAGE', 'the transport is not open', {
        hint: 'call start, and do not use it after close',
      })
    this.#link.send(JSON.stringify(message))
  }

  async close(): Promise<void> {
    await this.#link?.close()
    this.#ended()
  }

  #receive(text: string): void {
    try {
      this.onmessage?.(JSON.parse(text))
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #ended(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.onclose?.()
  }
}

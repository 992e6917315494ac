import { ReelayError } from '../errors.ts'
import type { ClientLink, OpenLink } from './client-link.ts'
import type { AnyTransport } from './sdk-transport.ts'

/** A transport for the clients of both SDKs over a link: a server process or a URL. */
export function openLinkTransport(open: OpenLink, losses: LossHandlers = {}): AnyTransport {
  return new LinkTransport(open, losses)
}

interface LossHandlers {
  /** Adds what is known about the server to the reason why it ended. */
  readonly describe?: (why: string) => string
  /** A request will get no response. */
  readonly onLost?: (idKey: string, why: string) => void
  /** The server has ended, or closed the connection. It is called before `onclose`. */
  readonly onEnd?: (why: string) => void
}

class LinkTransport implements AnyTransport {
  onmessage: AnyTransport['onmessage']
  onclose: AnyTransport['onclose']
  onerror: AnyTransport['onerror']
  readonly #open: OpenLink
  /** Why the server ended the link. */
  closeReason: string | undefined
  readonly #losses: LossHandlers
  #link: ClientLink | undefined
  #isClosed = false

  constructor(open: OpenLink, losses: LossHandlers) {
    this.#open = open
    this.#losses = losses
  }

  async start(): Promise<void> {
    this.#link = await this.#open({
      onText: (text) => this.#receive(text),
      onLost: (id, why) => {
        this.#losses.onLost?.(id, why)
        this.onerror?.(new Error(why))
      },
      onRejected: (why) => this.onerror?.(new Error(why)),
      onEnd: (why) => {
        if (!this.#isClosed) {
          this.closeReason = this.#losses.describe?.(why) ?? why
          this.#losses.onEnd?.(this.closeReason)
        }
        this.#ended()
      },
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

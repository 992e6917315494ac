import { classifyMessage, type Message } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import type { BridgeContext } from './http-requests.ts'
import { BridgeHttpSession } from './streamable-session.ts'
import { BridgeSseSession } from './sse-session.ts'

/** What a server that only knows HTTP+SSE answers to a POST. */
const LEGACY_STATUSES: ReadonlySet<number> = new Set([400, 404, 405])

/**
 * Joins a client that speaks lines of JSON to a server that speaks HTTP: Streamable HTTP of both eras, or HTTP+SSE where the
 * server knows nothing else. Messages pass as they are and in the client's order.
 */
export class Bridge {
  readonly #context: BridgeContext
  readonly #session: BridgeHttpSession
  #sseSession: BridgeSseSession | undefined
  #sending: Promise<void> = Promise.resolve()
  #unsent = 0

  constructor(ends: BridgeContext) {
    this.#context = ends
    this.#session = new BridgeHttpSession(ends)
  }

  /** Whether the server still owes an answer, or the client's last word is not on its way yet. */
  get isAwaitingResponses(): boolean {
    return this.#unsent > 0 || (this.#sseSession ?? this.#session).isAwaitingResponses
  }

  /** Takes a message of the client. */
  sendFromClient(text: string): void {
    const message = classifyMessage(parseJson(text))
    if (message.kind === 'invalid')
      return this.#context.say(`the client sent something that is no message: ${message.why}`)
    this.#unsent++
    this.#sending = this.#sending.then(() => this.#send(text, message)).finally(() => this.#unsent--)
  }

  /** Leaves what is under way and ends the session; may be called twice. */
  async close(): Promise<void> {
    await Promise.all([this.#session.close(), this.#sseSession?.close()])
  }

  async #send(text: string, message: Message): Promise<void> {
    if (this.#sseSession !== undefined) return this.#sseSession.send(text, message)
    const refusal = await this.#session.send(text, message)
    if (refusal === undefined) return
    const old = LEGACY_STATUSES.has(refusal.status) ? new BridgeSseSession(this.#context) : undefined
    if (!(await old?.open())) return this.#session.reportRejection(refusal)
    this.#sseSession = old
    await old?.send(text, message)
  }
}

import { classify, type Message } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { BridgeEnds } from './bridge-ends.ts'
import { HttpSession } from './http-session.ts'
import { OldSession } from './old-session.ts'

/** What a server that only knows HTTP+SSE answers to a POST. */
const MAYBE_OLD: ReadonlySet<number> = new Set([400, 404, 405])

/**
 * Joins a client that speaks lines of JSON to a server that speaks HTTP: Streamable HTTP of both eras, or HTTP+SSE where the
 * server knows nothing else. Messages pass as they are and in the client's order.
 */
export class Bridge {
  readonly #ends: BridgeEnds
  readonly #session: HttpSession
  #old: OldSession | undefined
  #sending: Promise<void> = Promise.resolve()
  #unsent = 0

  constructor(ends: BridgeEnds) {
    this.#ends = ends
    this.#session = new HttpSession(ends)
  }

  /** Whether the server still owes an answer, or the client's last word is not on its way yet. */
  get isOwing(): boolean {
    return this.#unsent > 0 || (this.#old ?? this.#session).isOwing
  }

  /** Takes a message of the client. */
  take(text: string): void {
    const message = classify(parseJson(text))
    if (message.kind === 'invalid')
      return this.#ends.say(`the client sent something that is no message: ${message.why}`)
    this.#unsent++
    this.#sending = this.#sending.then(() => this.#send(text, message)).finally(() => this.#unsent--)
  }

  /** Leaves what is under way and ends the session; may be called twice. */
  async close(): Promise<void> {
    await Promise.all([this.#session.close(), this.#old?.close()])
  }

  async #send(text: string, message: Message): Promise<void> {
    if (this.#old !== undefined) return this.#old.send(text, message)
    const refusal = await this.#session.send(text, message)
    if (refusal === undefined) return
    const old = MAYBE_OLD.has(refusal.status) ? new OldSession(this.#ends) : undefined
    if (!(await old?.open())) return this.#session.tell(refusal)
    this.#old = old
    await old?.send(text, message)
  }
}

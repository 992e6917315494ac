import type { RecordedMessage } from '../tape/turn.ts'
import { idKey, isId } from '../protocol/id.ts'

/** The live names of recorded things: subscriptions, which the client names, and requests of the server, which we name. */
export class LiveIds {
  readonly #subscriptions = new Map<string, string>()
  readonly #serverRequests = new Map<string, string>()

  /** `live` is the id of the live request, as JSON. */
  setSubscription(listen: RecordedMessage, live: string): void {
    this.#subscriptions.set(recordedIdKey(listen, requestIdOf(listen)), live)
  }

  setServerRequest(request: RecordedMessage, live: string): void {
    this.#serverRequests.set(recordedIdKey(request, requestIdOf(request)), live)
  }

  /** The live name of what a message of that connection calls `id`; none when the live client has not opened it. */
  subscription(sender: RecordedMessage, id: unknown): string | undefined {
    return this.#subscriptions.get(recordedIdKey(sender, id))
  }

  serverRequest(sender: RecordedMessage, id: unknown): string | undefined {
    return this.#serverRequests.get(recordedIdKey(sender, id))
  }
}

function requestIdOf({ message }: RecordedMessage): unknown {
  return message.kind === 'request' ? message.id : undefined
}

function recordedIdKey({ server, conn }: RecordedMessage, id: unknown): string {
  return JSON.stringify([server, conn, isId(id) ? idKey(id) : null])
}

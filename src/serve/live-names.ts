import type { Spoken } from '../tape/turn.ts'
import { idKey, isId } from '../wire/id.ts'

/** The live names of recorded things: subscriptions, which the client names, and requests of the server, which we name. */
export class LiveNames {
  readonly #subscriptions = new Map<string, string>()
  readonly #asks = new Map<string, string>()

  /** `live` is the id of the live request, as JSON. */
  nameSubscription(listen: Spoken, live: string): void {
    this.#subscriptions.set(placeOf(listen, idOf(listen)), live)
  }

  nameAsk(request: Spoken, live: string): void {
    this.#asks.set(placeOf(request, idOf(request)), live)
  }

  /** The live name of what a message of that connection calls `id`; none when the live client has not opened it. */
  subscription(sender: Spoken, id: unknown): string | undefined {
    return this.#subscriptions.get(placeOf(sender, id))
  }

  ask(sender: Spoken, id: unknown): string | undefined {
    return this.#asks.get(placeOf(sender, id))
  }
}

function idOf({ message }: Spoken): unknown {
  return message.kind === 'request' ? message.id : undefined
}

function placeOf({ server, conn }: Spoken, id: unknown): string {
  return JSON.stringify([server, conn, isId(id) ? idKey(id) : null])
}

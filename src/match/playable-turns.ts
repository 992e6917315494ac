import { cancelledRequestId, idKey, type Id } from '../protocol/message.ts'
import type { TurnStore, RecordedMessage, Turn } from '../tape/turns.ts'

/**
 * The requests that can be played: those with an answer, and those that have none by design, because the client cancelled
 * the request or because it opened a stream of notifications that lasted until the end of the tape.
 */
export class PlayableTurns {
  readonly #store: TurnStore
  readonly #unansweredByDesign = new Map<number, boolean>()
  #cancelled: ReadonlySet<string> | undefined

  constructor(store: TurnStore) {
    this.#store = store
  }

  has(place: number): boolean {
    const { trigger, answered } = this.#store.summary(place)
    if (trigger !== 'request') return false
    return answered || this.#isUnansweredByDesign(place)
  }

  #isUnansweredByDesign(place: number): boolean {
    const known = this.#unansweredByDesign.get(place)
    if (known !== undefined) return known
    this.#cancelled ??= cancelledRequests(this.#store)
    const turn = this.#store.at(place)
    const isByDesign = turn !== undefined && isUnansweredByDesign(turn, this.#cancelled)
    this.#unansweredByDesign.set(place, isByDesign)
    return isByDesign
  }
}

function cancelledRequests(store: TurnStore): ReadonlySet<string> {
  const cancelled = new Set<string>()
  const kinds = store.kinds().filter(({ method }) => method === 'notifications/cancelled')
  const first = Math.min(store.size, ...kinds.map((kind) => kind.first))
  for (let place = first; place < store.size; place++) {
    const { trigger, method } = store.summary(place)
    if (trigger !== 'notification' || method !== 'notifications/cancelled') continue
    const cancellation = store.at(place)?.trigger
    const id = cancellation && cancelledRequestId(cancellation.message)
    if (cancellation !== undefined && id !== undefined) cancelled.add(requestIdKey(cancellation, id))
  }
  return cancelled
}

function isUnansweredByDesign({ trigger, steps, cut }: Turn, cancelled: ReadonlySet<string>): boolean {
  if (trigger?.message.kind !== 'request' || cut !== undefined) return false
  if (cancelled.has(requestIdKey(trigger, trigger.message.id))) return true
  return trigger.message.method === 'subscriptions/listen' && steps.length > 0
}

function requestIdKey({ server, conn }: RecordedMessage, id: Id): string {
  return JSON.stringify([server, conn, idKey(id)])
}

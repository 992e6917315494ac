import { isTaskPoll } from '../match/freely-asked.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import type { RecordedMessage, Turn } from '../tape/turn.ts'

/**
 * What a subscription brought is often the effect of a call made meanwhile. So each of its messages waits until the live
 * client has made the call that came before it on the tape. To ask how a task is doing brings nothing about.
 */
export class SubscriptionOrder {
  readonly #turns: TurnStore
  readonly #isNeeded: boolean
  /** Calls by their names, because a turn on disk is read anew after a while. */
  readonly #started = new Set<string>()
  readonly #answered = new Set<string>()
  /** Looked for once: a waiting message asks again after every call. */
  readonly #causes = new Map<RecordedMessage, Turn | undefined>()

  constructor(turns: TurnStore) {
    this.#turns = turns
    this.#isNeeded = turns.kinds().some(({ method }) => method === SUBSCRIBE_METHOD)
  }

  markStarted(turn: Turn): void {
    if (this.#isNeeded) this.#started.add(callKey(turn))
  }

  markAnswered(turn: Turn): void {
    if (this.#isNeeded) this.#answered.add(callKey(turn))
  }

  maySend(subscription: Turn, message: RecordedMessage): boolean {
    if (!this.#isNeeded || !isSubscription(subscription)) return true
    const cause = this.#causeOf(subscription, message)
    if (cause === undefined) return true
    const cameAfterAnswer = cause.response !== undefined && cause.response.n < message.n
    return (cameAfterAnswer ? this.#answered : this.#started).has(callKey(cause))
  }

  #causeOf(subscription: Turn, message: RecordedMessage): Turn | undefined {
    const known = this.#causes.get(message)
    if (known !== undefined) return known
    const cause = this.#lastCallBetween(subscription.trigger, message)
    this.#causes.set(message, cause)
    return cause
  }

  #lastCallBetween(subscription: RecordedMessage | undefined, message: RecordedMessage): Turn | undefined {
    for (let place = this.#turns.size - 1; place >= 0; place--) {
      const { frame, method, answered } = this.#turns.outline(place)
      if (
        !answered ||
        method === SUBSCRIBE_METHOD ||
        isTaskPoll(method) ||
        !isBetween(frame, subscription?.n, message.n)
      )
        continue
      const call = this.#turns.turn(place)
      if (isSameClient(call?.trigger, message)) return call
    }
    return undefined
  }
}

const SUBSCRIBE_METHOD = 'subscriptions/listen'

function isSubscription({ trigger }: Turn): boolean {
  return trigger?.message.kind === 'request' && trigger.message.method === SUBSCRIBE_METHOD
}

/** A frame holds several messages only in a batch. */
function callKey({ trigger }: Turn): string {
  return `${trigger?.n}.${trigger?.item}`
}

// Over HTTP a subscription and a call are two connections, though one client made both.
function isSameClient(trigger: RecordedMessage | undefined, message: RecordedMessage): boolean {
  if (trigger?.server !== message.server) return false
  return trigger.conn === message.conn || (trigger.x !== undefined && message.x !== undefined)
}

function isBetween(n: number | undefined, after: number | undefined, before: number): boolean {
  return n !== undefined && after !== undefined && n > after && n < before
}

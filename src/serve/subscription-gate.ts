import type { Spoken, Turn } from '../tape/turn.ts'

/**
 * What a subscription brought is often the effect of a call made meanwhile. So each of its messages waits until the live
 * client has made the call that came before it on the tape.
 */
export class SubscriptionGate {
  readonly #calls: readonly Turn[]
  readonly #started = new Set<Turn>()
  readonly #answered = new Set<Turn>()
  /** Looked for once: a waiting message asks again after every call. */
  readonly #causes = new Map<Spoken, Turn | undefined>()

  constructor(turns: readonly Turn[]) {
    const hasSubscriptions = turns.some(isSubscription)
    this.#calls = hasSubscriptions ? turns.filter((turn) => isCall(turn)) : []
  }

  started(turn: Turn): void {
    if (this.#calls.length > 0) this.#started.add(turn)
  }

  answered(turn: Turn): void {
    if (this.#calls.length > 0) this.#answered.add(turn)
  }

  isOpen(subscription: Turn, message: Spoken): boolean {
    if (!isSubscription(subscription)) return true
    const cause = this.#causeOf(subscription, message)
    if (cause === undefined) return true
    const cameAfterAnswer = cause.response !== undefined && cause.response.n < message.n
    return cameAfterAnswer ? this.#answered.has(cause) : this.#started.has(cause)
  }

  #causeOf({ trigger }: Turn, message: Spoken): Turn | undefined {
    const known = this.#causes.get(message)
    if (known !== undefined) return known
    const cause = this.#calls.findLast(
      (call) => isOfSameLink(call.trigger, message) && isBetween(call.trigger?.n, trigger?.n, message.n),
    )
    this.#causes.set(message, cause)
    return cause
  }
}

function isSubscription({ trigger }: Turn): boolean {
  return trigger?.message.kind === 'request' && trigger.message.method === 'subscriptions/listen'
}

function isCall(turn: Turn): boolean {
  return turn.response !== undefined && !isSubscription(turn)
}

// Over HTTP a subscription and a call are two connections, though one client made both.
function isOfSameLink(trigger: Spoken | undefined, message: Spoken): boolean {
  if (trigger?.server !== message.server) return false
  return trigger.conn === message.conn || (trigger.x !== undefined && message.x !== undefined)
}

function isBetween(n: number | undefined, after: number | undefined, before: number): boolean {
  return n !== undefined && after !== undefined && n > after && n < before
}

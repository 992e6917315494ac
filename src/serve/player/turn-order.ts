import { isTaskPoll } from '../../match/request-key.ts'
import { idKey, isId } from '../../protocol/id.ts'
import { member } from '../../protocol/message.ts'
import type { Clock } from './clock.ts'
import type { TurnStore } from '../../tape/turns.ts'
import type { Turn, RecordedMessage } from '../../tape/turn.ts'

// A client that waits for this answer before it makes the next call would wait for ever.
const MAX_WAIT_MS = 1000

interface AnswerOrderOptions {
  readonly turns: Iterable<Turn>
  readonly clock: Clock
  /** Told when an answer was held back in vain: `first` should have come before it, and may be given now. */
  readonly onGiveUp: (turn: Turn, first: Turn) => void
}

/** Holds an answer back until the calls that overlapped with it on the tape, and were answered before it, are answered. */
export class AnswerOrder {
  readonly #options: AnswerOrderOptions
  /** By the frame of their answer. */
  readonly #answers: readonly AnsweredTurn[]
  readonly #answered = new Set<string>()
  readonly #waiting = new Set<string>()
  readonly #givenUp = new Set<string>()

  constructor(options: AnswerOrderOptions) {
    this.#options = options
    this.#answers = [...options.turns].filter(isAnswered).toSorted((a, b) => a.response.n - b.response.n)
  }

  markAnswered(turn: Turn): void {
    this.#answered.add(turnKey(turn))
  }

  mayAnswer(turn: Turn): boolean {
    const first = this.#unansweredBefore(turn)
    if (first === undefined || this.#givenUp.has(turnKey(turn))) return true
    if (!this.#waiting.has(turnKey(turn)))
      this.#options.clock.after(MAX_WAIT_MS, () => this.#stopWaiting(turn))
    this.#waiting.add(turnKey(turn))
    return false
  }

  #stopWaiting(turn: Turn): void {
    const first = this.#unansweredBefore(turn)
    if (first === undefined || this.#answered.has(turnKey(turn))) return
    this.#givenUp.add(turnKey(turn))
    this.#options.onGiveUp(turn, first)
  }

  #unansweredBefore(turn: Turn): Turn | undefined {
    if (!isAnswered(turn)) return undefined
    const { trigger, response } = turn
    return this.#answers
      .slice(this.#indexAfter(trigger.n), this.#indexAfter(response.n - 1))
      .find((other) => isSameConnection(other, turn) && !this.#answered.has(turnKey(other)))
  }

  #indexAfter(frame: number): number {
    let [low, high] = [0, this.#answers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#answers[middle]?.response.n ?? 0) > frame) high = middle
      else low = middle + 1
    }
    return low
  }
}

type AnsweredTurn = Turn & { readonly [Key in 'trigger' | 'response']: NonNullable<Turn[Key]> }

function isAnswered(turn: Turn): turn is AnsweredTurn {
  return turn.trigger !== undefined && turn.response !== undefined
}

function isSameConnection({ trigger: one }: AnsweredTurn, { trigger: other }: AnsweredTurn): boolean {
  return one.server === other.server && one.conn === other.conn
}

/** A turn may be read again from the disk, and then is another object. */
function turnKey({ trigger }: Turn): string {
  return `${trigger?.n}.${trigger?.item}`
}

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
      const { frame, method, answered } = this.#turns.summary(place)
      if (
        !answered ||
        method === SUBSCRIBE_METHOD ||
        isTaskPoll(method) ||
        !isBetween(frame, subscription?.n, message.n)
      )
        continue
      const call = this.#turns.at(place)
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

/** The client's cancellations on a tape, by the request that they name. */
export class RecordedCancellations {
  readonly #byRequest = new Map<string, RecordedMessage>()

  /** `cancelling` are the turns of `notifications/cancelled`. */
  constructor(cancelling: readonly Turn[]) {
    for (const { trigger } of cancelling) if (trigger !== undefined) this.#add(trigger)
  }

  /** The cancellation of a request, when the server went on with it all the same. */
  ignoredCancellationOf({ trigger, response }: Turn): RecordedMessage | undefined {
    if (this.#byRequest.size === 0) return undefined
    if (trigger?.message.kind !== 'request' || response === undefined) return undefined
    const cancel = this.#byRequest.get(cancelledRequestKey(trigger, trigger.message.id))
    const isIgnored = cancel !== undefined && cancel.n > trigger.n && cancel.n < response.n
    return isIgnored ? cancel : undefined
  }

  #add(cancel: RecordedMessage): void {
    const { message } = cancel
    if (message.kind !== 'notification') return
    this.#byRequest.set(cancelledRequestKey(cancel, member(message.params, 'requestId')), cancel)
  }
}

function cancelledRequestKey({ server, conn }: RecordedMessage, id: unknown): string {
  return JSON.stringify([server, conn, isId(id) ? idKey(id) : null])
}

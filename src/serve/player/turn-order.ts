import { isTaskPoll } from '../../match/request-key.ts'
import { member } from '../../json/parse.ts'
import type { TurnStore, RecordedMessage, Turn } from '../../tape/turns.ts'
import type { Clock } from './clock.ts'
import { recordedIdKey } from './live-messages.ts'

interface TurnOrderOptions {
  readonly turns: TurnStore
  /** The turns of `notifications/cancelled`. */
  readonly cancellations: readonly Turn[]
  readonly clock: Clock
  /** True if overlapping calls are answered in recorded order. */
  readonly keepsAnswerOrder: boolean
  /** Called when a response has waited too long for the one that came first on the tape. */
  readonly onGiveUp: (turn: Turn, first: Turn) => void
}

/** Decides which recorded messages must wait until something else of the tape has happened in this session. */
export class TurnOrder {
  readonly #answers: AnswerOrder | undefined
  readonly #subscriptions: SubscriptionOrder | undefined
  readonly #cancellations: ReadonlyMap<string, RecordedMessage>

  constructor(options: TurnOrderOptions) {
    const { turns, cancellations, keepsAnswerOrder } = options
    if (keepsAnswerOrder) this.#answers = new AnswerOrder(options)
    if (turns.kinds().some(({ method }) => method === SUBSCRIBE_METHOD))
      this.#subscriptions = new SubscriptionOrder(turns)
    this.#cancellations = cancellationsByRequest(cancellations)
  }

  markStarted(turn: Turn): void {
    this.#subscriptions?.markStarted(turn)
  }

  markAnswered(turn: Turn): void {
    this.#subscriptions?.markAnswered(turn)
    this.#answers?.markAnswered(turn)
  }

  /** True if the message of the turn has nothing to wait for. */
  maySend(turn: Turn, message: RecordedMessage): boolean {
    if (this.#subscriptions?.maySend(turn, message) === false) return false
    return message !== turn.response || this.#answers === undefined || this.#answers.mayAnswer(turn)
  }

  /** True if the turn may have to wait for other turns. */
  mayHaveToWait(turn: Turn): boolean {
    return this.#answers !== undefined || isSubscription(turn)
  }

  /** Returns the client's cancellation of a recorded request that the server answered nevertheless. */
  ignoredCancellationOf({ trigger, response }: Turn): RecordedMessage | undefined {
    if (this.#cancellations.size === 0) return undefined
    if (trigger?.message.kind !== 'request' || response === undefined) return undefined
    const cancellation = this.#cancellations.get(recordedIdKey(trigger, trigger.message.id))
    const isIgnored = cancellation !== undefined && cancellation.n > trigger.n && cancellation.n < response.n
    return isIgnored ? cancellation : undefined
  }
}

function cancellationsByRequest(turns: readonly Turn[]): ReadonlyMap<string, RecordedMessage> {
  return new Map(
    turns.flatMap(({ trigger }) =>
      trigger?.message.kind === 'notification'
        ? [[recordedIdKey(trigger, member(trigger.message.params, 'requestId')), trigger] as const]
        : [],
    ),
  )
}

// A client that waits for this response before it makes the next call would wait for ever.
const MAX_WAIT_MS = 1000

/** Holds a response back until the calls that overlapped with it on the tape, and were answered before it, are answered. */
class AnswerOrder {
  readonly #options: Pick<TurnOrderOptions, 'clock' | 'onGiveUp'>
  /** Answered turns, in the order of their responses. */
  readonly #answers: readonly AnsweredTurn[]
  readonly #answered = new Set<string>()
  readonly #waiting = new Set<string>()
  readonly #givenUp = new Set<string>()

  constructor(options: TurnOrderOptions) {
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

/** Identifies a turn. The object does not, because a turn that is read from disk again is another object. */
function turnKey({ trigger }: Turn): string {
  return `${trigger?.n}.${trigger?.item}`
}

/**
 * Messages of a subscription are often the effect of a call. Each of them waits until the live client has made the call that
 * came before it on the tape. Polling a task has no such effect.
 */
class SubscriptionOrder {
  readonly #turns: TurnStore
  readonly #started = new Set<string>()
  readonly #answered = new Set<string>()
  /** A waiting message is checked again after every call, but its cause is searched only once. */
  readonly #causes = new Map<RecordedMessage, Turn | undefined>()

  constructor(turns: TurnStore) {
    this.#turns = turns
  }

  markStarted(turn: Turn): void {
    this.#started.add(turnKey(turn))
  }

  markAnswered(turn: Turn): void {
    this.#answered.add(turnKey(turn))
  }

  maySend(subscription: Turn, message: RecordedMessage): boolean {
    if (!isSubscription(subscription)) return true
    const cause = this.#causeOf(subscription, message)
    if (cause === undefined) return true
    const cameAfterAnswer = cause.response !== undefined && cause.response.n < message.n
    return (cameAfterAnswer ? this.#answered : this.#started).has(turnKey(cause))
  }

  #causeOf(subscription: Turn, message: RecordedMessage): Turn | undefined {
    if (this.#causes.has(message)) return this.#causes.get(message)
    const cause = this.#lastCallBetween(subscription.trigger, message)
    this.#causes.set(message, cause)
    return cause
  }

  #lastCallBetween(subscription: RecordedMessage | undefined, message: RecordedMessage): Turn | undefined {
    for (let index = this.#turns.size - 1; index >= 0; index--) {
      const { frame, method, answered } = this.#turns.summary(index)
      const isCause = answered && method !== SUBSCRIBE_METHOD && !isTaskPoll(method)
      if (!isCause || !isBetween(frame, subscription?.n, message.n)) continue
      const call = this.#turns.at(index)
      if (isSameClient(call?.trigger, message)) return call
    }
    return undefined
  }
}

const SUBSCRIBE_METHOD = 'subscriptions/listen'

function isSubscription({ trigger }: Turn): boolean {
  return trigger?.message.kind === 'request' && trigger.message.method === SUBSCRIBE_METHOD
}

// Over HTTP a subscription and a call are two connections, although one client made both.
function isSameClient(trigger: RecordedMessage | undefined, message: RecordedMessage): boolean {
  if (trigger?.server !== message.server) return false
  return trigger.conn === message.conn || (trigger.x !== undefined && message.x !== undefined)
}

function isBetween(n: number | undefined, after: number | undefined, before: number): boolean {
  return n !== undefined && after !== undefined && n > after && n < before
}

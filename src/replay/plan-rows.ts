import { calledTool } from '../match/describe-request.ts'
import { uint32Column, float64Column } from '../store/columns.ts'
import type { Turn } from '../tape/turn.ts'
import { ascendingOrder } from './ascending-order.ts'
import { NotificationColumnsBuilder, type NotificationColumns } from './plan/recorded-notifications.ts'
import { isHandshake } from './is-handshake.ts'
import { linkNameOf } from './link-of.ts'
import { ValueTable } from './columns.ts'
import type { PlanCandidate, SendDecision } from './plan/plan.ts'
import { answersInputRound } from './recorded-rounds.ts'
import { cancelledKey } from './sent-calls.ts'

/** What a plan knows of each message of the client without reading it, in the order in which they were sent. */
export interface PlanColumns {
  /** The places of their turns. */
  readonly place: Uint32Array
  /** The frame of each, and that of its answer; 0 when it got none. */
  readonly frame: Float64Array
  readonly answer: Float64Array
  /** Milliseconds from the start of the tape. */
  readonly at: Float64Array
  /** Numbers in `links` and `fates`. */
  readonly link: Uint32Array
  readonly fate: Uint32Array
  readonly links: readonly string[]
  readonly fates: readonly SendDecision[]
  readonly notifications: NotificationColumns
  /** The requests that are cancelled somewhere, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** Whether any answers a round of input. */
  readonly hasRounds: boolean
  /** When the last message was sent or answered. */
  readonly ended: number
}

/** Takes the turns of a tape one after the other, and keeps a few numbers of each. */
export class PlanColumnsBuilder {
  readonly #fateOf: (candidate: PlanCandidate) => SendDecision
  readonly #place = uint32Column()
  readonly #frame = float64Column()
  readonly #answer = float64Column()
  readonly #at = float64Column()
  readonly #link = uint32Column()
  readonly #fate = uint32Column()
  readonly #links = new ValueTable<string>()
  readonly #fates = new ValueTable<SendDecision>()
  readonly #told = new NotificationColumnsBuilder()
  readonly #cancelled = new Set<string>()
  #hasRounds = false
  #ended = 0

  constructor(fateOf: (candidate: PlanCandidate) => SendDecision) {
    this.#fateOf = fateOf
  }

  add(turn: Turn, place: number): void {
    const { trigger, response } = turn
    const link = linkNameOf(turn)
    const onLink = this.#links.numberOf(link, link)
    const message = trigger?.message
    const isSpoken = message?.kind === 'request' || message?.kind === 'notification'
    if (trigger === undefined || !isSpoken) return this.#told.add(turn, onLink, true)
    const fate = this.#fateOf({ turn, message, tool: calledTool(message), at: trigger.t })
    // What a message that is not sent brought about does not come; our own handshake brings about what the recorded one did.
    this.#told.add(turn, onLink, fate.kind === 'send' || isHandshake(message))
    const cancelled = cancelledKey(link, message)
    if (cancelled !== undefined) this.#cancelled.add(cancelled)
    this.#hasRounds ||= answersInputRound(message)
    this.#place.push(place)
    this.#frame.push(trigger.n)
    this.#answer.push(response?.n ?? 0)
    this.#at.push(trigger.t)
    this.#ended = Math.max(this.#ended, response?.t ?? trigger.t)
    this.#link.push(onLink)
    this.#fate.push(this.#fates.numberOf(decisionKey(fate), fate))
  }

  taken(): PlanColumns {
    // Messages of one batch share a frame, and stay as they are.
    const order = ascendingOrder(this.#frame.toArray())
    return {
      place: this.#place.toArray(order),
      frame: this.#frame.toArray(order),
      answer: this.#answer.toArray(order),
      at: this.#at.toArray(order),
      link: this.#link.toArray(order),
      fate: this.#fate.toArray(order),
      links: this.#links.list,
      fates: this.#fates.list,
      notifications: this.#told.taken(),
      cancelled: this.#cancelled,
      hasRounds: this.#hasRounds,
      ended: this.#ended,
    }
  }
}

function decisionKey(fate: SendDecision): string {
  return fate.kind === 'send' ? fate.kind : `${fate.kind} ${fate.why}`
}

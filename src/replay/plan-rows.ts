import { toolOf } from '../match/brief.ts'
import { wholeColumn, wideColumn } from '../store/columns.ts'
import type { Turn } from '../tape/turn.ts'
import { ascendingOrder } from './ascending-order.ts'
import { ToldLog, type ToldRows } from './hearing.ts'
import { isHandshake } from './is-handshake.ts'
import { linkOf } from './link-of.ts'
import { Numbered } from './numbered.ts'
import type { Candidate, Fate } from './plan.ts'
import { isAnswering } from './recorded-rounds.ts'
import { cancelledKey } from './sent-calls.ts'

/** What a plan knows of each message of the client without reading it, in the order in which they were sent. */
export interface Rows {
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
  readonly fates: readonly Fate[]
  readonly told: ToldRows
  /** The requests that are cancelled somewhere, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** Whether any answers a round of input. */
  readonly hasRounds: boolean
  /** When the last message was sent or answered. */
  readonly ended: number
}

/** Takes the turns of a tape one after the other, and keeps a few numbers of each. */
export class PlanRows {
  readonly #fateOf: (candidate: Candidate) => Fate
  readonly #place = wholeColumn()
  readonly #frame = wideColumn()
  readonly #answer = wideColumn()
  readonly #at = wideColumn()
  readonly #link = wholeColumn()
  readonly #fate = wholeColumn()
  readonly #links = new Numbered<string>()
  readonly #fates = new Numbered<Fate>()
  readonly #told = new ToldLog()
  readonly #cancelled = new Set<string>()
  #hasRounds = false
  #ended = 0

  constructor(fateOf: (candidate: Candidate) => Fate) {
    this.#fateOf = fateOf
  }

  add(turn: Turn, place: number): void {
    const { trigger, response } = turn
    const link = linkOf(turn)
    const onLink = this.#links.numberOf(link, link)
    const message = trigger?.message
    const isSpoken = message?.kind === 'request' || message?.kind === 'notification'
    if (trigger === undefined || !isSpoken) return this.#told.add(turn, onLink, true)
    const fate = this.#fateOf({ turn, message, tool: toolOf(message), at: trigger.t })
    // What a message that is not sent brought about does not come; our own handshake brings about what the recorded one did.
    this.#told.add(turn, onLink, fate.kind === 'send' || isHandshake(message))
    const cancelled = cancelledKey(link, message)
    if (cancelled !== undefined) this.#cancelled.add(cancelled)
    this.#hasRounds ||= isAnswering(message)
    this.#place.push(place)
    this.#frame.push(trigger.n)
    this.#answer.push(response?.n ?? 0)
    this.#at.push(trigger.t)
    this.#ended = Math.max(this.#ended, response?.t ?? trigger.t)
    this.#link.push(onLink)
    this.#fate.push(this.#fates.numberOf(nameOf(fate), fate))
  }

  taken(): Rows {
    // Messages of one batch share a frame, and stay as they are.
    const order = ascendingOrder(this.#frame.taken())
    return {
      place: this.#place.taken(order),
      frame: this.#frame.taken(order),
      answer: this.#answer.taken(order),
      at: this.#at.taken(order),
      link: this.#link.taken(order),
      fate: this.#fate.taken(order),
      links: this.#links.list,
      fates: this.#fates.list,
      told: this.#told.taken(),
      cancelled: this.#cancelled,
      hasRounds: this.#hasRounds,
      ended: this.#ended,
    }
  }
}

function nameOf(fate: Fate): string {
  return fate.kind === 'send' ? fate.kind : `${fate.kind} ${fate.why}`
}

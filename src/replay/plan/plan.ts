import { ReelayError } from '../../errors.ts'
import type { RecordedTurns } from '../../tape/turn-store.ts'
import type { Turn } from '../../tape/turn.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import { calledTool } from '../../match/describe-request.ts'
import { answersBefore } from '../answering-order.ts'
import { RecordedNotifications } from './recorded-notifications.ts'
import { trailingNotificationsOf, resourceUpdatesOn, type TrailingNotifications } from '../last-news.ts'
import { PlanColumnsBuilder, type PlanColumns } from '../plan-rows.ts'

/** One message of the recorded client, and when it may go out. */
export interface PlannedMessage {
  /** Its place among the client's messages on the tape, from 0. */
  readonly index: number
  readonly turn: Turn
  readonly message: Request | Notification
  /** The recorded bytes. */
  readonly text: string
  readonly tool: string | undefined
  /** When it was sent, in milliseconds from the start of the tape. */
  readonly at: number
  /** Which of the live links it belongs to. */
  readonly link: string
  /** Requests, by index, whose answers came after the client's last message before this one, and before this one. */
  readonly after: readonly number[]
  /** Requests and changes that the server had told this link of by then, by method: how many. */
  readonly heard: ReadonlyMap<string, number>
  /** How often the server asked the client what, in all of this link. */
  readonly asksInAll: ReadonlyMap<string, number>
  readonly fate: SendDecision
}

/** Whether it is sent, and if not, why. */
export type SendDecision =
  | { readonly kind: 'send' }
  /** The user or the handshake left it out. */
  | { readonly kind: 'skip'; readonly why: string }
  /** It might change the world, and nobody allowed that. */
  | { readonly kind: 'hold'; readonly why: string }

export interface ReplayPlanOptions {
  readonly turns: RecordedTurns
  /** Why a message is left out, if it is. */
  readonly fateOf: (planned: PlanCandidate) => SendDecision
}

/** A message, before it is decided whether it is sent. */
export type PlanCandidate = Pick<PlannedMessage, 'turn' | 'message' | 'tool' | 'at'>

/** What the recorded client said, in its order, each with what it had waited for. A message is read when it is asked for. */
export function buildPlan({ turns, fateOf }: ReplayPlanOptions): ReplayPlan {
  const rows = new PlanColumnsBuilder(fateOf)
  for (let place = 0; place < turns.size; place++) rows.add(turnAt(turns, place), place)
  return new ReplayPlan(turns, rows.taken())
}

export class ReplayPlan implements Iterable<PlannedMessage> {
  readonly size: number
  /** The requests that are cancelled somewhere, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** Whether any message answers a round of input. */
  readonly hasRounds: boolean
  /** Milliseconds from the start of the tape to its last exchange. */
  readonly ended: number
  readonly #turns: RecordedTurns
  readonly #rows: PlanColumns
  readonly #answersBefore: (index: number) => readonly number[]
  readonly #notifications: RecordedNotifications

  constructor(turns: RecordedTurns, rows: PlanColumns) {
    this.size = rows.place.length
    this.cancelled = rows.cancelled
    this.hasRounds = rows.hasRounds
    this.ended = rows.ended
    this.#turns = turns
    this.#rows = rows
    this.#answersBefore = answersBefore(rows)
    this.#notifications = new RecordedNotifications(rows.notifications)
  }

  /** The message; throws when the tape no longer holds it. */
  at(index: number): PlannedMessage {
    const { place, frame, at, link, links, fate, fates } = this.#rows
    const turn = turnAt(this.#turns, place[index] ?? -1)
    const { message, text } = turn.trigger ?? NO_TRIGGER
    if (message.kind !== 'request' && message.kind !== 'notification') throw tapeChanged()
    const onLink = link[index] ?? 0
    return {
      index,
      turn,
      message,
      text,
      tool: calledTool(message),
      at: at[index] ?? 0,
      link: links[onLink] ?? '',
      after: this.#answersBefore(index),
      heard: this.#notifications.before(frame[index] ?? 0, onLink),
      asksInAll: this.#notifications.totalOn(onLink),
      fate: fates[fate[index] ?? 0] ?? SENT,
    }
  }

  /** The last messages to the links that the server told something after, by index. */
  trailingNotifications(): ReadonlyMap<number, TrailingNotifications> {
    return trailingNotificationsOf(this.#rows)
  }

  /** The resources of which the server told a link that they had changed, in its order. */
  resourceUpdatesOn(link: string): readonly string[] {
    return resourceUpdatesOn(this.#rows, link)
  }

  /** The frame that it stands in. */
  frameOf(index: number): number {
    return this.#rows.frame[index] ?? 0
  }

  /** The place of its turn among those of the tape. */
  placeOf(index: number): number {
    return this.#rows.place[index] ?? -1
  }

  /** The indexes of the messages that set these turns off, by the places of the turns. */
  indexesOf(places: ReadonlySet<number>): ReadonlyMap<number, number> {
    const indexes = new Map<number, number>()
    for (const [index, place] of this.#rows.place.entries()) if (places.has(place)) indexes.set(place, index)
    return indexes
  }

  *[Symbol.iterator](): Generator<PlannedMessage> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }
}

const SENT: SendDecision = { kind: 'send' }
const NO_TRIGGER = { message: { kind: 'invalid' }, text: '' } as const

function turnAt(turns: RecordedTurns, place: number): Turn {
  const turn = turns.turn(place)
  if (turn === undefined) throw tapeChanged()
  return turn
}

function tapeChanged(): ReelayError {
  return new ReelayError('TAPE_BROKEN', 'the tape no longer holds what it held when it was opened', {
    hint: 'somebody writes to it, or it is damaged: look at it with reelay inspect, and try again',
  })
}

/** Whether nobody waits for its answer: it never got one. */
export function isNeverAnswered({ message, turn, fate }: PlannedMessage): boolean {
  return message.kind === 'request' && turn.response === undefined && fate.kind === 'send'
}

import { ReelayError } from '../../errors.ts'
import { calledTool } from '../../match/describe-request.ts'
import { idKey, isId, type Id } from '../../protocol/id.ts'
import { isHandshakeMethod } from '../../protocol/revisions/index.ts'
import { type Notification, type Request, member } from '../../protocol/message.ts'
import {
  RecordedNotifications,
  NotificationColumnsBuilder,
  type NotificationColumns,
} from './recorded-notifications.ts'
import { revisionOfRequest } from '../../protocol/revisions/index.ts'
import { answersInputRound } from '../session/input-rounds.ts'
import { ascendingOrder, float64Column, indexesUpTo, uint32Column, ValueTable } from '../../store/columns.ts'
import { NO_TURN, type TurnStore } from '../../tape/turns.ts'
import type { RecordedMessage, Turn } from '../../tape/turn.ts'

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

/** Why a message is not sent after the run was stopped. */
export const RUN_STOPPED = 'the run was stopped'

interface ReplayPlanOptions {
  readonly turns: TurnStore
  /** Why a message is left out, if it is. */
  readonly fateOf: (planned: PlanCandidate) => SendDecision
}

/** A message, before it is decided whether it is sent. */
export type PlanCandidate = Pick<PlannedMessage, 'turn' | 'message' | 'tool' | 'at'>

/** What the recorded client said, in its order, each with what it had waited for. A message is read when it is asked for. */
export function buildPlan({ turns, fateOf }: ReplayPlanOptions): ReplayPlan {
  const rows = new PlanColumnsBuilder(fateOf)
  for (let place = 0; place < turns.size; place++)
    if (turns.summary(place) !== NO_TURN) rows.add(turnAt(turns, place), place)
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
  readonly #turns: TurnStore
  readonly #rows: PlanColumns
  readonly #answersBefore: (index: number) => readonly number[]
  readonly #notifications: RecordedNotifications

  constructor(turns: TurnStore, rows: PlanColumns) {
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

function turnAt(turns: TurnStore, place: number): Turn {
  const turn = turns.at(place)
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

/** What a plan knows of each message of the client without reading it, in the order in which they were sent. */
interface PlanColumns {
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
class PlanColumnsBuilder {
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
    this.#told.add(turn, onLink, fate.kind === 'send' || isHandshakeMethod(message.method))
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

/** For each message, the requests whose answers came since the message before it; two numbers for each, whatever the tape holds. */
function answersBefore({
  frame,
  answer,
}: Pick<PlanColumns, 'frame' | 'answer'>): (index: number) => readonly number[] {
  const answered = answeredInOrder(answer)
  const from = new Uint32Array(frame.length + 1)
  let next = 0
  for (let index = 0; index < frame.length; index++) {
    from[index] = next
    while (next < answered.length && (answer[answered[next] ?? 0] ?? 0) < (frame[index] ?? 0)) next++
  }
  from[frame.length] = next
  return (index) => {
    const [start = 0, end = 0] = [from[index], from[index + 1]]
    return start === end ? NO_INDEXES : indexList(answered, start, end)
  }
}

const NO_INDEXES: readonly number[] = []

// Most often it is one.
function indexList(numbers: Uint32Array, start: number, end: number): readonly number[] {
  return end === start + 1 ? [numbers[start] ?? 0] : Array.from(numbers.subarray(start, end))
}

/** The requests that were answered, in the order of their answers. */
function answeredInOrder(answer: Float64Array): Uint32Array {
  const order = ascendingOrder(answer) ?? indexesUpTo(answer.length)
  let unanswered = 0
  while (answer[order[unanswered] ?? -1] === 0) unanswered++ // they stand first
  return order.subarray(unanswered)
}

/** What the server had told a link of in all, by method, if it told of something after the last message to it. */
export interface TrailingNotifications {
  readonly link: string
  readonly counts: ReadonlyMap<string, number>
}

/** The endings of a tape, by the indexes of the last messages that are sent. */
function trailingNotificationsOf(rows: PlanColumns): ReadonlyMap<number, TrailingNotifications> {
  const { notifications, frame, link, links, fate, fates } = rows
  const lastTold = lastNotificationFrames(notifications)
  const endings = new Map<number, TrailingNotifications>()
  for (let index = frame.length - 1; index >= 0 && lastTold.size > 0; index--) {
    const onLink = link[index] ?? 0
    const toldAt = lastTold.get(onLink)
    if (toldAt === undefined || fates[fate[index] ?? 0]?.kind !== 'send') continue
    lastTold.delete(onLink)
    if (toldAt > (frame[index] ?? 0))
      endings.set(index, { link: links[onLink] ?? '', counts: notificationCounts(notifications, onLink) })
  }
  return endings
}

/** The resources of which a link was told that they had changed, as far as that comes in this run. */
function resourceUpdatesOn({ notifications, links }: PlanColumns, link: string): readonly string[] {
  const onLink = links.indexOf(link)
  const uris: string[] = []
  for (const [row, uri] of notifications.uri.entries())
    if (
      notifications.link[row] === onLink &&
      notifications.isExpected[row] === 1 &&
      notifications.uris[uri] !== ''
    )
      uris.push(notifications.uris[uri] ?? '')
  return uris
}

/** In which frame each link was told something last. */
function lastNotificationFrames(told: NotificationColumns): Map<number, number> {
  const last = new Map<number, number>()
  for (const [row, frame] of told.frame.entries())
    if (isLiveNotification(told, row)) last.set(told.link[row] ?? 0, frame)
  return last
}

function notificationCounts(told: NotificationColumns, link: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [row, method] of told.method.entries()) {
    const name = told.methods[method] ?? ''
    if (told.link[row] === link && isLiveNotification(told, row))
      counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** Whether it comes in this run, and is no request: those are looked for with the call that they belong to. */
function isLiveNotification({ isExpected, method, methods }: NotificationColumns, row: number): boolean {
  return isExpected[row] === 1 && (methods[method[row] ?? 0] ?? '').startsWith('notifications/')
}

/** The key of the request that a message cancels. */
export function cancelledKey(link: string, message: Request | Notification): string | undefined {
  const id = isCancellation({ message }) ? member(message.params, 'requestId') : undefined
  return isId(id) ? callKey(link, id) : undefined
}

export function isCancellation({ message }: Pick<PlannedMessage, 'message'>): boolean {
  return message.method === 'notifications/cancelled'
}

export function callKey(link: string, id: Id): string {
  return `${link} ${idKey(id)}`
}

/** Which of the live links a turn belongs to. */
// A modern exchange over HTTP is a connection of its own, and has no state: all of them share one link.
export function linkNameOf({ trigger, steps: [first] }: Turn): string {
  if (trigger === undefined) return `${(first?.kind === 'ask' ? first.request : first?.message)?.conn ?? 0}`
  return trigger.x === undefined || !isStateless(trigger) ? `${trigger.conn}` : 'stateless'
}

function isStateless({ message }: RecordedMessage): boolean {
  return 'params' in message && revisionOfRequest(message.params).isStateless
}

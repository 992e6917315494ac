import { ReelayError } from '../../errors.ts'
import { calledTool, type Notification, type Request, idKey, isId, type Id } from '../../protocol/message.ts'
import { member } from '../../json/parse.ts'
import { isHandshakeMethod, revisionOfRequest } from '../../protocol/revisions/index.ts'
import {
  RecordedNotifications,
  NotificationColumnsBuilder,
  type NotificationColumns,
} from './recorded-notifications.ts'
import { answersInputRound } from '../session/input-rounds.ts'
import { ascendingOrder, float64Column, indexesUpTo, uint32Column, ValueTable } from '../../store/columns.ts'
import { NO_TURN, type TurnStore, type RecordedMessage, type Turn } from '../../tape/turns.ts'

/** A message of the recorded client, with everything that it waits for. */
export interface PlannedMessage {
  /** Position among the client's messages on the tape, from 0. */
  readonly index: number
  readonly turn: Turn
  readonly message: Request | Notification
  /** The recorded bytes. */
  readonly text: string
  readonly tool: string | undefined
  /** When the message was sent, in milliseconds from the start of the tape. */
  readonly at: number
  /** The live session that the message belongs to. */
  readonly link: string
  /** Indexes of requests that were answered between the client's previous message and this one. */
  readonly after: readonly number[]
  /** How many requests and notifications of each method the server had sent on this link before. */
  readonly heard: ReadonlyMap<string, number>
  /** How many messages of each method the server sent on this link in all. */
  readonly asksInAll: ReadonlyMap<string, number>
  readonly fate: SendDecision
}

/** Whether a message is sent, and if not, why. */
export type SendDecision =
  | { readonly kind: 'send' }
  /** Left out by an option or because of the handshake. */
  | { readonly kind: 'skip'; readonly why: string }
  /** Held back because it may have side effects and was not allowed. */
  | { readonly kind: 'hold'; readonly why: string }

/** Why a message is not sent after the run was stopped. */
export const RUN_STOPPED = 'the run was stopped'

interface ReplayPlanOptions {
  readonly turns: TurnStore
  /** Decides whether a message is sent. */
  readonly fateOf: (planned: PlanCandidate) => SendDecision
}

/** A message before the decision whether it is sent. */
export type PlanCandidate = Pick<PlannedMessage, 'turn' | 'message' | 'tool' | 'at'>

/** Plans the messages of the recorded client in tape order. The plan keeps a few numbers for each; a message is read from the tape on demand. */
export function buildPlan({ turns, fateOf }: ReplayPlanOptions): ReplayPlan {
  const rows = new PlanColumnsBuilder(fateOf)
  for (let place = 0; place < turns.size; place++)
    if (turns.summary(place) !== NO_TURN) rows.add(turnAt(turns, place), place)
  return new ReplayPlan(turns, rows.taken())
}

export class ReplayPlan implements Iterable<PlannedMessage> {
  readonly size: number
  /** The requests that are cancelled anywhere on the tape, by `cancelledKey`. */
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

  /** Reads a message; throws if the tape was changed in the meantime. */
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

  /** The last message of each link that was followed by notifications of the server, by index. */
  trailingNotifications(): ReadonlyMap<number, TrailingNotifications> {
    return trailingNotificationsOf(this.#rows)
  }

  /** The resources that the server reported as updated on a link, in tape order. */
  resourceUpdatesOn(link: string): readonly string[] {
    return resourceUpdatesOn(this.#rows, link)
  }

  /** The frame of a message. */
  frameOf(index: number): number {
    return this.#rows.frame[index] ?? 0
  }

  /** The position of a message's turn on the tape. */
  placeOf(index: number): number {
    return this.#rows.place[index] ?? -1
  }

  /** The indexes of the messages that began these turns, by the positions of the turns. */
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
  return new ReelayError('TAPE_BROKEN', 'the tape was changed after it was opened', {
    hint: 'check the tape with reelay inspect, and replay it again when nothing writes to it',
  })
}

/** Whether a request is sent that got no answer when it was recorded. */
export function isNeverAnswered({ message, turn, fate }: PlannedMessage): boolean {
  return message.kind === 'request' && turn.response === undefined && fate.kind === 'send'
}

/** The numbers that a plan keeps for each message of the client, in tape order. */
interface PlanColumns {
  /** Positions of the turns. */
  readonly place: Uint32Array
  /** Frames of the message and of its answer; 0 if it got none. */
  readonly frame: Float64Array
  readonly answer: Float64Array
  /** Milliseconds from the start of the tape. */
  readonly at: Float64Array
  /** Positions in `links` and `fates`. */
  readonly link: Uint32Array
  readonly fate: Uint32Array
  readonly links: readonly string[]
  readonly fates: readonly SendDecision[]
  readonly notifications: NotificationColumns
  /** The requests that are cancelled anywhere on the tape, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** Whether any message answers a round of input. */
  readonly hasRounds: boolean
  /** Time of the last message or answer. */
  readonly ended: number
}

/** Collects the columns of a plan turn by turn. */
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
  readonly #notifications = new NotificationColumnsBuilder()
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
    const isSent = message?.kind === 'request' || message?.kind === 'notification'
    if (trigger === undefined || !isSent) return this.#notifications.add(turn, onLink, true)
    const fate = this.#fateOf({ turn, message, tool: calledTool(message), at: trigger.t })
    // Messages that the server sent in response to a message that is left out do not come. Reelay's own handshake triggers the same ones as the recorded handshake.
    this.#notifications.add(turn, onLink, fate.kind === 'send' || isHandshakeMethod(message.method))
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
    // Messages of one batch share a frame and keep their order.
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
      notifications: this.#notifications.taken(),
      cancelled: this.#cancelled,
      hasRounds: this.#hasRounds,
      ended: this.#ended,
    }
  }
}

function decisionKey(fate: SendDecision): string {
  return fate.kind === 'send' ? fate.kind : `${fate.kind} ${fate.why}`
}

/** For each message, the requests that were answered since the previous message. Takes two numbers for each message. */
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

function indexList(numbers: Uint32Array, start: number, end: number): readonly number[] {
  return end === start + 1 ? [numbers[start] ?? 0] : Array.from(numbers.subarray(start, end))
}

/** The answered requests in the order of their answers. */
function answeredInOrder(answer: Float64Array): Uint32Array {
  const order = ascendingOrder(answer) ?? indexesUpTo(answer.length)
  let unanswered = 0
  while (answer[order[unanswered] ?? -1] === 0) unanswered++ // they are sorted to the front
  return order.subarray(unanswered)
}

/** How many notifications of each method the server sent on a link in all, including those after its last message. */
export interface TrailingNotifications {
  readonly link: string
  readonly counts: ReadonlyMap<string, number>
}

/** The notifications after the last message that is sent on each link, by the index of that message. */
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

/** The resources that were reported as updated on a link and are expected in this run. */
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

/** The frame of the last notification on each link. */
function lastNotificationFrames(notifications: NotificationColumns): Map<number, number> {
  const last = new Map<number, number>()
  for (const [row, frame] of notifications.frame.entries())
    if (isLiveNotification(notifications, row)) last.set(notifications.link[row] ?? 0, frame)
  return last
}

function notificationCounts(notifications: NotificationColumns, link: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [row, method] of notifications.method.entries()) {
    const name = notifications.methods[method] ?? ''
    if (notifications.link[row] === link && isLiveNotification(notifications, row))
      counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** Whether a row is a notification that is expected in this run. Requests of the server are checked with the call that they belong to. */
function isLiveNotification({ isExpected, method, methods }: NotificationColumns, row: number): boolean {
  return isExpected[row] === 1 && (methods[method[row] ?? 0] ?? '').startsWith('notifications/')
}

/** The key of the request that a message cancels; `undefined` if it is not a cancellation. */
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

/** The name of the live session that a turn belongs to. Stateless exchanges over HTTP share one session. */
export function linkNameOf({ trigger, steps: [first] }: Turn): string {
  if (trigger === undefined) return `${(first?.kind === 'ask' ? first.request : first?.message)?.conn ?? 0}`
  return trigger.x === undefined || !isStateless(trigger) ? `${trigger.conn}` : 'stateless'
}

function isStateless({ message }: RecordedMessage): boolean {
  return 'params' in message && revisionOfRequest(message.params).isStateless
}

import { ReelayError } from '../../errors.ts'
import { type Notification, type Request, calledTool, type Id, idKey, isId } from '../../protocol/message.ts'
import { isHandshakeMethod, revisionOfRequest } from '../../protocol/revisions/index.ts'
import { ascendingOrder, indexesUpTo, type NumberArray } from '../../store/columns.ts'
import { NO_TURN, type TurnStore, type Turn } from '../../tape/turns.ts'
import { answersInputRound } from '../session/input-rounds.ts'
import {
  lastMessages,
  methodAt,
  type NotificationColumns,
  type PlanColumns,
  PlanColumnsBuilder,
  type SendDecision,
} from './plan-columns.ts'
import { holdUnsafeCall, type ToolDescriptions, type WritePermission } from './tool-safety.ts'
import { member } from '../../json/parse.ts'

export interface MessageSelection {
  /** Only these methods, or tools as `tools/call:name`; `*` matches any characters. */
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  /** Leaves out messages that were sent before `from` or after `to`, in milliseconds from the start of the tape. */
  readonly from?: number
  readonly to?: number
  readonly skipNotifications?: boolean
  /** Leaves out requests that were answered with an error. */
  readonly skipErrors?: boolean
  readonly handshake?: 'own' | 'recorded' | 'none'
}

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
  readonly receivedBefore: MethodCounts
  /** How many messages of each method the server sent on this link in all. */
  readonly receivedInAll: MethodCounts
  readonly fate: SendDecision
}

type MethodCounts = ReadonlyMap<string, number>

/** Decides for every message of the recorded client whether it is sent. */
export function planMessages(
  turns: TurnStore,
  options: MessageSelection & WritePermission,
  tools: ToolDescriptions,
): ReplayPlan {
  const columns = new PlanColumnsBuilder()
  for (let place = 0; place < turns.size; place++) {
    if (turns.summary(place) === NO_TURN) continue
    const turn = turnAt(turns, place)
    const { trigger, response } = turn
    const link = linkNameOf(turn)
    const message = trigger?.message
    if (trigger === undefined || (message?.kind !== 'request' && message?.kind !== 'notification')) {
      columns.addServerMessages(turn, { place, link, isExpected: true })
      continue
    }
    const fate = decide({ turn, message, tool: calledTool(message), at: trigger.t }, options, tools)
    // Messages that the server sent in response to a message that is left out do not come. Reelay's own handshake triggers the same ones as the recorded handshake.
    const isExpected = fate.kind === 'send' || isHandshakeMethod(message.method)
    columns.addServerMessages(turn, { place, link, isExpected })
    const cancels = cancelledKey(link, message)
    const isRound = answersInputRound(message)
    const isWrite = holdUnsafeCall({ message, tool: calledTool(message) }, {}, tools) !== undefined
    columns.addMessage({ place, trigger, response, link, fate, cancels, isRound, isWrite })
  }
  return new ReplayPlan(turns, columns.build())
}

/** A message before the decision whether it is sent. */
type Candidate = Pick<PlannedMessage, 'turn' | 'message' | 'tool' | 'at'>

function decide(
  candidate: Candidate,
  options: MessageSelection & WritePermission,
  tools: ToolDescriptions,
): SendDecision {
  const isHandshake = isHandshakeMethod(candidate.message.method)
  const skipped = isHandshake ? handshakeReason(options.handshake) : skipReason(candidate, options)
  if (skipped !== undefined) return { kind: 'skip', why: skipped }
  const held = holdUnsafeCall(candidate, options, tools)
  return held === undefined ? SENT : { kind: 'hold', why: held }
}

const SENT: SendDecision = { kind: 'send' }

/** Why the recorded handshake is not sent. */
export const OWN_HANDSHAKE = 'Reelay does its own handshake'

/** Returns true if a message is not sent because Reelay does the handshake itself. */
export function isHandshakeLeftOut(fate: SendDecision): boolean {
  return fate.kind === 'skip' && fate.why === OWN_HANDSHAKE
}

function handshakeReason(handshake: MessageSelection['handshake'] = 'own'): string | undefined {
  if (handshake === 'recorded') return undefined
  return handshake === 'own' ? OWN_HANDSHAKE : 'the handshake is turned off'
}

/** Returns true if the options do not leave out the message of a turn. */
export function isSelected(turn: Turn, options: MessageSelection): boolean {
  const message = turn.trigger?.message
  if (turn.trigger === undefined || (message?.kind !== 'request' && message?.kind !== 'notification'))
    return false
  return skipReason({ turn, message, tool: calledTool(message), at: turn.trigger.t }, options) === undefined
}

/** Returns why the options leave a message out; `undefined` if they do not. */
function skipReason(
  { message, tool, at, turn }: Candidate,
  { include, exclude = [], from = 0, to = Infinity, skipNotifications, skipErrors }: MessageSelection,
): string | undefined {
  const isNamed = (pattern: string): boolean =>
    pattern === `#${turn.exchange}` || matchesPattern(pattern, message.method, tool)
  if (include !== undefined && !include.some(isNamed)) return 'not included'
  if (exclude.some(isNamed)) return 'excluded'
  if (at < from) return 'before the selected part of the tape'
  if (at > to) return 'after the selected part of the tape'
  if (skipNotifications && message.kind === 'notification') return 'notifications are skipped'
  const answer = turn.response?.message
  const failed = answer?.kind === 'response' && 'error' in answer.outcome
  return skipErrors && failed ? 'the recorded answer is an error' : undefined
}

/** The patterns of `include` and `exclude` that match no message of a tape. */
export function unmatchedPatterns(
  turns: TurnStore,
  { include = [], exclude = [] }: MessageSelection,
): readonly (readonly [option: 'include' | 'exclude', pattern: string])[] {
  const open = new Map<string, readonly ['include' | 'exclude', string]>()
  for (const pattern of include) open.set(`include ${pattern}`, ['include', pattern])
  for (const pattern of exclude) open.set(`exclude ${pattern}`, ['exclude', pattern])
  for (let place = 0; place < turns.size && open.size > 0; place++) {
    const { method, name } = turns.summary(place)
    for (const [key, [, pattern]] of open)
      if (pattern === `#${turns.exchangeOf(place)}` || matchesPattern(pattern, method, name)) open.delete(key)
  }
  return [...open.values()]
}

function matchesPattern(pattern: string, method: string, tool: string | undefined): boolean {
  const names = tool === undefined ? [method] : [method, `${method}:${tool}`]
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  const expression = new RegExp(`^${parts.join('.*')}$`)
  return names.some((name) => expression.test(name))
}

/** The messages of the recorded client in tape order. A plan keeps a few numbers for each; a message is read from the tape on demand. */
export class ReplayPlan implements Iterable<PlannedMessage> {
  readonly size: number
  /** The requests that are cancelled anywhere on the tape, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** True if any message answers a round of input. */
  readonly hasRounds: boolean
  /** True if a call is sent that may have side effects. */
  readonly hasWrites: boolean
  /** Milliseconds from the start of the tape to its last exchange. */
  readonly ended: number
  readonly #turns: TurnStore
  readonly #columns: PlanColumns
  readonly #answersBefore: (index: number) => readonly number[]
  readonly #notifications: NotificationCounter

  constructor(turns: TurnStore, columns: PlanColumns) {
    this.size = columns.rows.place.length
    this.cancelled = columns.cancelled
    this.hasRounds = columns.hasRounds
    this.hasWrites = columns.hasWrites
    this.ended = columns.ended
    this.#turns = turns
    this.#columns = columns
    this.#answersBefore = answersBefore(columns.rows)
    this.#notifications = new NotificationCounter(columns.notifications)
  }

  /** Reads a message; throws if the tape was changed in the meantime. */
  at(index: number): PlannedMessage {
    const { rows, links } = this.#columns
    const turn = turnAt(this.#turns, rows.place[index] ?? -1)
    const { message, text } = turn.trigger ?? NO_TRIGGER
    if (message.kind !== 'request' && message.kind !== 'notification') throw tapeChanged()
    const link = rows.link[index] ?? 0
    return {
      index,
      turn,
      message,
      text,
      tool: calledTool(message),
      at: rows.at[index] ?? 0,
      link: links[link] ?? '',
      after: this.#answersBefore(index),
      receivedBefore: this.#notifications.before(rows.frame[index] ?? 0, link),
      receivedInAll: this.#notifications.totalOn(link),
      fate: this.decisionOf(index),
    }
  }

  /** Returns true for a request that stays open while later messages are sent: the tape cancels it later, or it is a subscription. */
  isLeftOpen({ message, link }: Pick<PlannedMessage, 'message' | 'link'>): boolean {
    if (message.kind !== 'request') return false
    return message.method === LISTEN || this.cancelled.has(callKey(link, message.id))
  }

  /** The number of messages that belong to the handshake, which Reelay does itself. */
  get handshakes(): number {
    const { rows, fates } = this.#columns
    const own = fates.findIndex(isHandshakeLeftOut)
    let count = 0
    for (const fate of rows.fate) if (fate === own) count++
    return count
  }

  /** The last message that is sent on each link: the name of the link by the index of the message. */
  lastMessages(): ReadonlyMap<number, string> {
    return lastMessages(this.#columns)
  }

  /** The turns on a link with notifications that belong to no request for certain, in tape order. */
  *notifyingTurns(link: string): Generator<{ readonly turn: Turn; readonly isExpected: boolean }> {
    const { notifyingTurns: rows, links } = this.#columns
    const onLink = links.indexOf(link)
    for (const [row, place] of rows.place.entries())
      if (rows.link[row] === onLink)
        yield { turn: turnAt(this.#turns, place), isExpected: rows.isExpected[row] === 1 }
  }

  /** The frame of the first answer to a request that is sent on a link; `Infinity` if there is none. */
  firstAnswerOn(link: string): number {
    const { rows, links, fates } = this.#columns
    const onLink = links.indexOf(link)
    const isAnswered = (index: number): boolean =>
      rows.link[index] === onLink &&
      (rows.answer[index] ?? 0) > 0 &&
      fates[rows.fate[index] ?? 0]?.kind === 'send'
    let first = Infinity
    for (let index = 0; index < this.size; index++)
      if (isAnswered(index)) first = Math.min(first, rows.answer[index] ?? Infinity)
    return first
  }

  /** When the first message on a link was sent, in milliseconds from the start of the tape; 0 if there is none. */
  startOf(link: string): number {
    const { rows, links } = this.#columns
    return rows.at[rows.link.indexOf(links.indexOf(link))] ?? 0
  }

  /** The last message of the client before a frame; `undefined` if there is none. */
  messageBefore(frame: number): PlannedMessage | undefined {
    const frames = this.#columns.rows.frame
    let [start, end] = [0, this.size]
    while (start < end) {
      const middle = (start + end) >>> 1
      if ((frames[middle] ?? 0) < frame) start = middle + 1
      else end = middle
    }
    return start === 0 ? undefined : this.at(start - 1)
  }

  /** The frame of a message. */
  frameOf(index: number): number {
    return this.#columns.rows.frame[index] ?? 0
  }

  /** When a message was sent, in milliseconds from the start of the tape. */
  timeOf(index: number): number {
    return this.#columns.rows.at[index] ?? 0
  }

  /** The decision whether a message is sent, without reading it. */
  decisionOf(index: number): SendDecision {
    const { rows, fates } = this.#columns
    return fates[rows.fate[index] ?? 0] ?? SENT
  }

  /** How many messages that are sent share the frame of this one: the size of its batch. */
  batchSizeOf(index: number): number {
    const { frame } = this.#columns.rows
    let [first, end] = [index, index + 1]
    while (first > 0 && frame[first - 1] === frame[index]) first--
    while (end < this.size && frame[end] === frame[index]) end++
    return Array.from({ length: end - first }, (_, place) => this.decisionOf(first + place)).filter(
      ({ kind }) => kind === 'send',
    ).length
  }

  /** The position of a message's turn on the tape. */
  placeOf(index: number): number {
    return this.#columns.rows.place[index] ?? -1
  }

  /** The indexes of the messages that began these turns, by the positions of the turns. */
  indexesOf(places: ReadonlySet<number>): ReadonlyMap<number, number> {
    const indexes = new Map<number, number>()
    for (const [index, place] of this.#columns.rows.place.entries())
      if (places.has(place)) indexes.set(place, index)
    return indexes
  }

  *[Symbol.iterator](): Generator<PlannedMessage> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }
}

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

/** For each message, the requests that were answered since the previous message. Keeps two numbers for each message. */
function answersBefore({ frame, answer }: PlanColumns['rows']): (index: number) => readonly number[] {
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
    if (start === end) return NO_INDEXES
    return end === start + 1 ? [answered[start] ?? 0] : Array.from(answered.subarray(start, end))
  }
}

const NO_INDEXES: readonly number[] = []

/** The answered requests in the order of their answers. */
function answeredInOrder(answer: NumberArray): Uint32Array {
  const order = ascendingOrder(answer) ?? indexesUpTo(answer.length)
  let unanswered = 0
  while (answer[order[unanswered] ?? -1] === 0) unanswered++ // they are sorted to the front
  return order.subarray(unanswered)
}

/** Counts the messages that the server sent on its own, by link and method, up to any frame. */
class NotificationCounter {
  readonly #columns: NotificationColumns
  readonly #totals = new Map<number, MethodCounts>()
  readonly #counts = new Map<number, MethodCounts>()
  #next = 0
  #until = 0

  constructor(columns: NotificationColumns) {
    this.#columns = columns
    for (const row of columns.rows.link.keys()) this.#count(this.#totals, row)
  }

  totalOn(link: number): MethodCounts {
    return this.#totals.get(link) ?? NO_COUNTS
  }

  /** Counts the expected messages before a frame. Calls in tape order are cheap, because counting continues where it stopped. */
  before(frame: number, link: number): MethodCounts {
    if (frame < this.#until) {
      this.#counts.clear()
      this.#next = 0
    }
    this.#until = frame
    const { rows } = this.#columns
    for (; (rows.frame[this.#next] ?? Infinity) < frame; this.#next++)
      if (rows.isExpected[this.#next] === 1) this.#count(this.#counts, this.#next)
    return this.#counts.get(link) ?? NO_COUNTS
  }

  // Copies the map, because callers keep the maps that they got before. There are few methods.
  #count(counts: Map<number, MethodCounts>, row: number): void {
    const link = this.#columns.rows.link[row] ?? 0
    const method = methodAt(this.#columns, row)
    const onLink = new Map(counts.get(link))
    counts.set(link, onLink.set(method, (onLink.get(method) ?? 0) + 1))
  }
}

const NO_COUNTS: MethodCounts = new Map()

/** Returns true for a request that is sent and got no answer when it was recorded. */
export function isNeverAnswered({ message, turn, fate }: PlannedMessage): boolean {
  return message.kind === 'request' && turn.response === undefined && fate.kind === 'send'
}

/** Listens for changes until the client ends it. */
const LISTEN = 'subscriptions/listen'

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
  const { x, conn, message } = trigger
  const isStateless = x !== undefined && 'params' in message && revisionOfRequest(message.params).isStateless
  return isStateless ? 'stateless' : `${conn}`
}

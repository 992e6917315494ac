import { type NumberArray, NumberTable, ValueTable } from '../../store/columns.ts'
import { connectionNotifications } from '../steps/observed-notifications.ts'
import type { RecordedMessage, Turn } from '../../tape/turns.ts'

/** The decision to send a message, or the reason not to send it. */
export type SendDecision =
  | { readonly kind: 'send' }
  /** Left out by an option or because of the handshake. */
  | { readonly kind: 'skip'; readonly why: string }
  /** Held back because it may have side effects and was not allowed. */
  | { readonly kind: 'hold'; readonly why: string }

/** The numbers that a plan keeps, so that a tape of any length can be planned. */
export interface PlanColumns {
  /**
   * One row for each message of the client, in tape order: the position of its turn, the frames of the message and of its answer
   * (0 if it got none), its time in milliseconds, and its positions in `links` and `fates`.
   */
  readonly rows: Columns<'place' | 'frame' | 'answer' | 'at' | 'link' | 'fate'>
  readonly links: readonly string[]
  readonly fates: readonly SendDecision[]
  readonly notifications: NotificationColumns
  readonly notifyingTurns: NotifyingTurns
  /** The requests that are cancelled anywhere on the tape, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** True if any message answers a round of input. */
  readonly hasRounds: boolean
  /** True if a call is sent that may have side effects. */
  readonly hasWrites: boolean
  /** Time of the last message or answer. */
  readonly ended: number
}

/** The messages that the server sent on its own and that a client may have waited for. */
export interface NotificationColumns {
  /** `isExpected` is 1 if the message is expected in this run; `method` is a position in the list below. */
  readonly rows: Columns<'frame' | 'link' | 'method' | 'isExpected'>
  readonly methods: readonly string[]
}

/** The turns with notifications that belong to no request for certain. `isExpected` is as in `NotificationColumns`. */
type NotifyingTurns = Columns<'place' | 'link' | 'isExpected'>

type Columns<Name extends string> = Readonly<Record<Name, NumberArray>>

interface PlannedRow {
  readonly place: number
  readonly trigger: RecordedMessage
  readonly response: RecordedMessage | undefined
  readonly link: string
  readonly fate: SendDecision
  /** The key of the request that the message cancels. */
  readonly cancels: string | undefined
  /** True if the message answers a round of input. */
  readonly isRound: boolean
  /** True if the message is a call that may have side effects. */
  readonly isWrite: boolean
}

/** Where messages of the server are on the tape. */
interface ServerMessagesPlace {
  readonly place: number
  readonly link: string
  readonly isExpected: boolean
}

/** Collects the columns of a plan turn by turn. */
export class PlanColumnsBuilder {
  readonly #rows = new NumberTable({
    place: 'uint32',
    frame: 'float64',
    answer: 'float64',
    at: 'float64',
    link: 'uint32',
    fate: 'uint32',
  })
  readonly #notifications = new NumberTable({
    frame: 'float64',
    link: 'uint32',
    method: 'uint32',
    isExpected: 'uint32',
  })
  readonly #notifyingTurns = new NumberTable({ place: 'uint32', link: 'uint32', isExpected: 'uint32' })
  readonly #links = new ValueTable<string>()
  readonly #fates = new ValueTable<SendDecision>()
  readonly #methods = new ValueTable<string>()
  readonly #cancelled = new Set<string>()
  #hasRounds = false
  #hasWrites = false
  #ended = 0

  addMessage({ place, trigger, response, link, fate, cancels, isRound, isWrite }: PlannedRow): void {
    if (cancels !== undefined) this.#cancelled.add(cancels)
    this.#hasRounds ||= isRound
    this.#hasWrites ||= isWrite && fate.kind === 'send'
    this.#ended = Math.max(this.#ended, response?.t ?? trigger.t)
    const decision = fate.kind === 'send' ? fate.kind : `${fate.kind} ${fate.why}`
    this.#rows.add({
      place,
      frame: trigger.n,
      answer: response?.n ?? 0,
      at: trigger.t,
      link: this.#links.numberOf(link, link),
      fate: this.#fates.numberOf(decision, fate),
    })
  }

  /** Adds the requests and notifications of the server in the turn at a position of the tape. */
  addServerMessages(turn: Turn, { place, link, isExpected }: ServerMessagesPlace): void {
    if (turn.steps.length > 0 && connectionNotifications(turn).length > 0)
      this.#notifyingTurns.add({
        place,
        link: this.#links.numberOf(link, link),
        isExpected: isExpected ? 1 : 0,
      })
    for (const step of turn.steps) {
      if (step.kind === 'respond') continue
      const { n, message } = step.kind === 'ask' ? step.request : step.message
      const method = 'method' in message ? message.method : ''
      if (!isAwaited(method)) continue
      this.#notifications.add({
        frame: n,
        link: this.#links.numberOf(link, link),
        method: this.#methods.numberOf(method, method),
        isExpected: isExpected ? 1 : 0,
      })
    }
  }

  build(): PlanColumns {
    return {
      rows: this.#rows.toArrays(this.#rows.orderBy('frame')), // messages of one batch share a frame and keep their order
      links: this.#links.list,
      fates: this.#fates.list,
      notifications: {
        rows: this.#notifications.toArrays(this.#notifications.orderBy('frame')),
        methods: this.#methods.list,
      },
      notifyingTurns: this.#notifyingTurns.toArrays(undefined),
      cancelled: this.#cancelled,
      hasRounds: this.#hasRounds,
      hasWrites: this.#hasWrites,
      ended: this.#ended,
    }
  }
}

/** Returns true if a client may wait for a message of this method. The number of progress and log messages is arbitrary, so they are not awaited. */
function isAwaited(method: string): boolean {
  return method !== 'ping' && method !== 'notifications/progress' && method !== 'notifications/message'
}

/** The last message that is sent on each link, by its index. */
export function lastMessages({ rows, links, fates }: PlanColumns): ReadonlyMap<number, string> {
  const last = new Map<number, number>()
  for (let index = rows.frame.length - 1; index >= 0 && last.size < links.length; index--) {
    const link = rows.link[index] ?? 0
    if (!last.has(link) && fates[rows.fate[index] ?? 0]?.kind === 'send') last.set(link, index)
  }
  return new Map(Array.from(last, ([link, index]) => [index, links[link] ?? '']))
}

export function methodAt({ rows, methods }: NotificationColumns, row: number): string {
  return methods[rows.method[row] ?? 0] ?? ''
}

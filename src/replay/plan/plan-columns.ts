import { type NumberArray, NumberTable, ValueTable } from '../../store/columns.ts'
import { updatedResource } from '../session/live-notifications.ts'
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
  /** The requests that are cancelled anywhere on the tape, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** True if any message answers a round of input. */
  readonly hasRounds: boolean
  /** Time of the last message or answer. */
  readonly ended: number
}

/** The messages that the server sent on its own and that a client may have waited for. */
export interface NotificationColumns {
  /** `isExpected` is 1 if the message is expected in this run; `method` and `uri` are positions in the lists below. */
  readonly rows: Columns<'frame' | 'link' | 'method' | 'isExpected' | 'uri'>
  readonly methods: readonly string[]
  /** The updated resources. */
  readonly uris: readonly string[]
}

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
    uri: 'uint32',
  })
  readonly #links = new ValueTable<string>()
  readonly #fates = new ValueTable<SendDecision>()
  readonly #methods = new ValueTable<string>()
  readonly #uris = new ValueTable<string>()
  readonly #cancelled = new Set<string>()
  #hasRounds = false
  #ended = 0

  addMessage({ place, trigger, response, link, fate, cancels, isRound }: PlannedRow): void {
    if (cancels !== undefined) this.#cancelled.add(cancels)
    this.#hasRounds ||= isRound
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

  /** Adds the requests and notifications of the server in a turn. */
  addServerMessages({ steps }: Turn, link: string, isExpected: boolean): void {
    for (const step of steps) {
      if (step.kind === 'respond') continue
      const { n, message } = step.kind === 'ask' ? step.request : step.message
      const method = 'method' in message ? message.method : ''
      if (!isAwaited(method)) continue
      const uri = 'method' in message ? updatedResource(method, message.params) : ''
      this.#notifications.add({
        frame: n,
        link: this.#links.numberOf(link, link),
        method: this.#methods.numberOf(method, method),
        isExpected: isExpected ? 1 : 0,
        uri: this.#uris.numberOf(uri, uri),
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
        uris: this.#uris.list,
      },
      cancelled: this.#cancelled,
      hasRounds: this.#hasRounds,
      ended: this.#ended,
    }
  }
}

/** Returns true if a client may wait for a message of this method. The number of progress and log messages is arbitrary, so they are not awaited. */
function isAwaited(method: string): boolean {
  return method !== 'ping' && method !== 'notifications/progress' && method !== 'notifications/message'
}

/** How many notifications of each method the server sent on a link in all, including those after its last message. */
export interface TrailingNotifications {
  readonly link: string
  readonly counts: ReadonlyMap<string, number>
}

/** The notifications after the last message that is sent on each link, by the index of that message. */
export function trailingNotificationsOf({
  rows,
  links,
  fates,
  notifications,
}: PlanColumns): ReadonlyMap<number, TrailingNotifications> {
  const expected = expectedNotifications(notifications)
  const trailing = new Map<number, TrailingNotifications>()
  for (let index = rows.frame.length - 1; index >= 0 && expected.size > 0; index--) {
    const link = rows.link[index] ?? 0
    const onLink = expected.get(link)
    if (onLink === undefined || fates[rows.fate[index] ?? 0]?.kind !== 'send') continue
    expected.delete(link)
    if (onLink.lastFrame > (rows.frame[index] ?? 0))
      trailing.set(index, { link: links[link] ?? '', counts: onLink.counts })
  }
  return trailing
}

/** The notifications of each link that are expected in this run. Requests of the server are checked with the call that they belong to. */
function expectedNotifications(
  notifications: NotificationColumns,
): Map<number, { counts: Map<string, number>; lastFrame: number }> {
  const { frame, link, isExpected } = notifications.rows
  const byLink = new Map<number, { counts: Map<string, number>; lastFrame: number }>()
  for (let row = 0; row < frame.length; row++) {
    const method = methodAt(notifications, row)
    if (isExpected[row] === 0 || !method.startsWith('notifications/')) continue
    const { counts } = byLink.get(link[row] ?? 0) ?? { counts: new Map<string, number>() }
    counts.set(method, (counts.get(method) ?? 0) + 1)
    byLink.set(link[row] ?? 0, { counts, lastFrame: frame[row] ?? 0 })
  }
  return byLink
}

/** The resources that were reported as updated on a link and are expected in this run. */
export function resourceUpdatesOn({ notifications, links }: PlanColumns, link: string): readonly string[] {
  const { rows, uris } = notifications
  const onLink = links.indexOf(link)
  return Array.from(rows.uri, (uri, row) =>
    rows.link[row] === onLink && rows.isExpected[row] === 1 ? (uris[uri] ?? '') : '',
  ).filter((uri) => uri !== '')
}

export function methodAt({ rows, methods }: NotificationColumns, row: number): string {
  return methods[rows.method[row] ?? 0] ?? ''
}

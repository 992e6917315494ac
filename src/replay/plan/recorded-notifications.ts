import { ascendingOrder, float64Column, uint32Column, ValueTable } from '../../store/columns.ts'
import type { TurnStep, Turn } from '../../tape/turns.ts'
import { updatedResource } from '../session/live-notifications.ts'

/** Number of messages by method. */
type Counts = ReadonlyMap<string, number>

const NO_COUNTS: Counts = new Map()

/** The unsolicited messages of the server that a client may have waited for, in columns. */
export interface NotificationColumns {
  readonly frame: Float64Array
  readonly link: Uint32Array
  /** Positions in `methods`. */
  readonly method: Uint32Array
  /** 1 if the message is expected in this run, else 0. */
  readonly isExpected: Uint32Array
  /** The updated resource: positions in `uris`. */
  readonly uri: Uint32Array
  readonly methods: readonly string[]
  readonly uris: readonly string[]
}

/** Collects the columns turn by turn. */
export class NotificationColumnsBuilder {
  readonly #frame = float64Column()
  readonly #link = uint32Column()
  readonly #method = uint32Column()
  readonly #comes = uint32Column()
  readonly #uri = uint32Column()
  readonly #methods = new ValueTable<string>()
  readonly #uris = new ValueTable<string>()

  add({ steps }: Turn, link: number, comes: boolean): void {
    for (const step of steps) {
      const { n, method, uri } = serverMessageIn(step)
      if (!isAwaited(method)) continue
      this.#frame.push(n)
      this.#link.push(link)
      this.#method.push(this.#methods.numberOf(method, method))
      this.#comes.push(comes ? 1 : 0)
      this.#uri.push(this.#uris.numberOf(uri, uri))
    }
  }

  taken(): NotificationColumns {
    const order = ascendingOrder(this.#frame.toArray())
    return {
      frame: this.#frame.toArray(order),
      link: this.#link.toArray(order),
      method: this.#method.toArray(order),
      isExpected: this.#comes.toArray(order),
      uri: this.#uri.toArray(order),
      methods: this.#methods.list,
      uris: this.#uris.list,
    }
  }
}

/** Counts the unsolicited messages of each link up to any frame. */
export class RecordedNotifications {
  readonly #columns: NotificationColumns
  readonly #totals: ReadonlyMap<number, Counts>
  readonly #counts = new Map<number, Counts>()
  #next = 0
  #until = 0

  constructor(columns: NotificationColumns) {
    this.#columns = columns
    this.#totals = countsOf(columns)
  }

  totalOn(link: number): Counts {
    return this.#totals.get(link) ?? NO_COUNTS
  }

  /** Counts the expected messages before a frame. Calls in tape order are cheap, because counting continues where it stopped. */
  before(frame: number, link: number): Counts {
    if (frame < this.#until) this.#restart()
    this.#until = frame
    for (; (this.#columns.frame[this.#next] ?? Infinity) < frame; this.#next++) this.#count(this.#next)
    return this.#counts.get(link) ?? NO_COUNTS
  }

  #restart(): void {
    this.#counts.clear()
    this.#next = 0
  }

  // Copies the map, because callers keep the maps that they got before.
  #count(row: number): void {
    if (this.#columns.isExpected[row] === 0) return
    const link = this.#columns.link[row] ?? 0
    const method = methodIn(this.#columns, row)
    const ofLink = new Map(this.#counts.get(link))
    this.#counts.set(link, ofLink.set(method, (ofLink.get(method) ?? 0) + 1))
  }
}

function countsOf(columns: NotificationColumns): ReadonlyMap<number, Counts> {
  const counts = new Map<number, Map<string, number>>()
  for (const [row, link] of columns.link.entries()) {
    const ofLink = counts.get(link) ?? new Map<string, number>()
    const method = methodIn(columns, row)
    counts.set(link, ofLink.set(method, (ofLink.get(method) ?? 0) + 1))
  }
  return counts
}

function methodIn({ method, methods }: NotificationColumns, row: number): string {
  return methods[method[row] ?? 0] ?? ''
}

function serverMessageIn(step: TurnStep): {
  readonly n: number
  readonly method: string
  readonly uri: string
} {
  if (step.kind === 'respond') return NO_MESSAGE
  const { n, message } = step.kind === 'ask' ? step.request : step.message
  if (!('method' in message)) return { n, method: '', uri: '' }
  return { n, method: message.method, uri: updatedResource(message.method, message.params) }
}

const NO_MESSAGE = { n: 0, method: 'ping', uri: '' }

/** Whether a client may wait for a message of this method. The number of progress and log messages is arbitrary, so they are not awaited. */
function isAwaited(method: string): boolean {
  return method !== 'ping' && method !== 'notifications/progress' && method !== 'notifications/message'
}

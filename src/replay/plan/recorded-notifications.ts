import { ascendingOrder, float64Column, uint32Column, ValueTable } from '../../store/columns.ts'
import type { TurnStep, Turn } from '../../tape/turn.ts'
import { updatedResource } from '../session/live-notifications.ts'

/** How often which words of the server had come. */
type Counts = ReadonlyMap<string, number>

const NO_COUNTS: Counts = new Map()

/** What the server said of its own accord and a client may have waited for: a few numbers for each. */
export interface NotificationColumns {
  readonly frame: Float64Array
  readonly link: Uint32Array
  /** Numbers in `methods`. */
  readonly method: Uint32Array
  /** 1 when it comes in this run, too. */
  readonly isExpected: Uint32Array
  /** The resource that has changed: numbers in `uris`. */
  readonly uri: Uint32Array
  readonly methods: readonly string[]
  readonly uris: readonly string[]
}

/** Takes it from the turns of a tape. */
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

/** Counts it, by link, up to any frame. */
export class RecordedNotifications {
  readonly #columns: NotificationColumns
  readonly #totals: ReadonlyMap<number, Counts>
  readonly #counts = new Map<number, Counts>()
  #next = 0
  #until = 0

  constructor(told: NotificationColumns) {
    this.#columns = told
    this.#totals = countsOf(told)
  }

  totalOn(link: number): Counts {
    return this.#totals.get(link) ?? NO_COUNTS
  }

  /** What had come before a frame, of what comes in this run. Asked in the order of the tape, it costs next to nothing. */
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

  // A new map for each change: what was given out before says what had been heard until then.
  #count(row: number): void {
    if (this.#columns.isExpected[row] === 0) return
    const link = this.#columns.link[row] ?? 0
    const method = methodIn(this.#columns, row)
    const ofLink = new Map(this.#counts.get(link))
    this.#counts.set(link, ofLink.set(method, (ofLink.get(method) ?? 0) + 1))
  }
}

function countsOf(told: NotificationColumns): ReadonlyMap<number, Counts> {
  const counts = new Map<number, Map<string, number>>()
  for (const [row, link] of told.link.entries()) {
    const ofLink = counts.get(link) ?? new Map<string, number>()
    const method = methodIn(told, row)
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

/** Whether a client may wait for it: a request of the server, or word that something has changed. */
// Progress and logs come as often as the server likes: nobody waits for a certain one.
function isAwaited(method: string): boolean {
  return method !== 'ping' && method !== 'notifications/progress' && method !== 'notifications/message'
}

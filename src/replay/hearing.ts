import { wholeColumn, wideColumn } from '../store/columns.ts'
import type { Step, Turn } from '../tape/turn.ts'
import { ascendingOrder } from './ascending-order.ts'
import { Numbered } from './numbered.ts'
import { updatedIn } from './updated-in.ts'

/** How often which words of the server had come. */
type Counts = ReadonlyMap<string, number>

const NOTHING_HEARD: Counts = new Map()

/** What the server said of its own accord and a client may have waited for: a few numbers for each. */
export interface ToldRows {
  readonly frame: Float64Array
  readonly link: Uint32Array
  /** Numbers in `methods`. */
  readonly method: Uint32Array
  /** 1 when it comes in this run, too. */
  readonly comes: Uint32Array
  /** The resource that has changed: numbers in `uris`. */
  readonly uri: Uint32Array
  readonly methods: readonly string[]
  readonly uris: readonly string[]
}

/** Takes it from the turns of a tape. */
export class ToldLog {
  readonly #frame = wideColumn()
  readonly #link = wholeColumn()
  readonly #method = wholeColumn()
  readonly #comes = wholeColumn()
  readonly #uri = wholeColumn()
  readonly #methods = new Numbered<string>()
  readonly #uris = new Numbered<string>()

  add({ steps }: Turn, link: number, comes: boolean): void {
    for (const step of steps) {
      const { n, method, uri } = wordIn(step)
      if (!isAwaited(method)) continue
      this.#frame.push(n)
      this.#link.push(link)
      this.#method.push(this.#methods.numberOf(method, method))
      this.#comes.push(comes ? 1 : 0)
      this.#uri.push(this.#uris.numberOf(uri, uri))
    }
  }

  taken(): ToldRows {
    const order = ascendingOrder(this.#frame.taken())
    return {
      frame: this.#frame.taken(order),
      link: this.#link.taken(order),
      method: this.#method.taken(order),
      comes: this.#comes.taken(order),
      uri: this.#uri.taken(order),
      methods: this.#methods.list,
      uris: this.#uris.list,
    }
  }
}

/** Counts it, by link, up to any frame. */
export class Hearing {
  readonly #told: ToldRows
  readonly #inAll: ReadonlyMap<number, Counts>
  readonly #counts = new Map<number, Counts>()
  #next = 0
  #until = 0

  constructor(told: ToldRows) {
    this.#told = told
    this.#inAll = countsOf(told)
  }

  inAll(link: number): Counts {
    return this.#inAll.get(link) ?? NOTHING_HEARD
  }

  /** What had come before a frame, of what comes in this run. Asked in the order of the tape, it costs next to nothing. */
  before(frame: number, link: number): Counts {
    if (frame < this.#until) this.#restart()
    this.#until = frame
    for (; (this.#told.frame[this.#next] ?? Infinity) < frame; this.#next++) this.#count(this.#next)
    return this.#counts.get(link) ?? NOTHING_HEARD
  }

  #restart(): void {
    this.#counts.clear()
    this.#next = 0
  }

  // A new map for each change: what was given out before says what had been heard until then.
  #count(row: number): void {
    if (this.#told.comes[row] === 0) return
    const link = this.#told.link[row] ?? 0
    const method = methodIn(this.#told, row)
    const ofLink = new Map(this.#counts.get(link))
    this.#counts.set(link, ofLink.set(method, (ofLink.get(method) ?? 0) + 1))
  }
}

function countsOf(told: ToldRows): ReadonlyMap<number, Counts> {
  const counts = new Map<number, Map<string, number>>()
  for (const [row, link] of told.link.entries()) {
    const ofLink = counts.get(link) ?? new Map<string, number>()
    const method = methodIn(told, row)
    counts.set(link, ofLink.set(method, (ofLink.get(method) ?? 0) + 1))
  }
  return counts
}

function methodIn({ method, methods }: ToldRows, row: number): string {
  return methods[method[row] ?? 0] ?? ''
}

function wordIn(step: Step): { readonly n: number; readonly method: string; readonly uri: string } {
  if (step.kind === 'respond') return NO_WORD
  const { n, message } = step.kind === 'ask' ? step.request : step.message
  if (!('method' in message)) return { n, method: '', uri: '' }
  return { n, method: message.method, uri: updatedIn(message.method, message.params) }
}

const NO_WORD = { n: 0, method: 'ping', uri: '' }

/** Whether a client may wait for it: a request of the server, or word that something has changed. */
// Progress and logs come as often as the server likes: nobody waits for a certain one.
function isAwaited(method: string): boolean {
  return method !== 'ping' && method !== 'notifications/progress' && method !== 'notifications/message'
}

import type { Id } from '../protocol/id.ts'
import type { LiveCall } from './session/live-calls.ts'

// Our own ids count up, so that their low bits tell apart what is open at once.
const TABLE_SIZE = 1024

/**
 * The calls that wait for their answers. Most stand in a list of fixed size: a Map through which many pass leaves its outgrown
 * tables behind, and what these hold is not collected before them.
 */
export class OpenCalls implements Iterable<LiveCall> {
  readonly #table: (LiveCall | undefined)[] = Array.from({ length: TABLE_SIZE }, () => undefined)
  /** Those whose place is taken, and those whose ids are no whole numbers. */
  readonly #overflow = new Map<Id, LiveCall>()
  /** Those whose id another call has now: nothing can answer them. */
  readonly #hidden = new Set<LiveCall>()
  #last: LiveCall | undefined

  add(call: LiveCall): void {
    this.#last = call
    const place = slotOf(call.id)
    if (place >= 0 && this.#table[place] === undefined && !this.#overflow.has(call.id))
      this.#table[place] = call
    else this.#addFar(call)
  }

  /** Of two with one id the later. */
  get(id: Id): LiveCall | undefined {
    const far = this.#overflow.size === 0 ? undefined : this.#overflow.get(id)
    if (far !== undefined) return far
    const near = this.#table[slotOf(id)]
    return near?.id === id ? near : undefined
  }

  delete(call: LiveCall): void {
    const place = slotOf(call.id)
    if (place >= 0 && this.#table[place] === call) this.#table[place] = undefined
    else if (this.#overflow.get(call.id) === call) this.#overflow.delete(call.id)
    else this.#hidden.delete(call)
  }

  /** The one that was made last; of those that are open, while any is. */
  latest(): LiveCall | undefined {
    return this.#last?.isOver === true ? ([...this].at(-1) ?? this.#last) : this.#last
  }

  /** In the order in which they were made. */
  [Symbol.iterator](): Iterator<LiveCall> {
    const near = this.#table.filter((call) => call !== undefined)
    const open = [...near, ...this.#overflow.values(), ...this.#hidden]
    return open.toSorted((a, b) => a.sequence - b.sequence)[Symbol.iterator]()
  }

  #addFar(call: LiveCall): void {
    const former = this.#overflow.get(call.id)
    if (former !== undefined) this.#hidden.add(former)
    this.#overflow.set(call.id, call)
  }
}

/** -1 when it has none. */
function slotOf(id: Id): number {
  return typeof id === 'number' && id >>> 0 === id ? id % TABLE_SIZE : -1
}

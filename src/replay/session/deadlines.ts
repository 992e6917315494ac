import type { Turn } from '../../tape/turns.ts'

interface HasDeadline {
  /** When the item expires; Infinity for never. */
  readonly due: number
}

interface DeadlinesOptions<Item> {
  readonly items: Iterable<Item>
  readonly onExpired: (item: Item) => void
  /** The current time in the unit of `due`. */
  readonly now: () => number
}

/** Watches the deadlines of many items with one timer. */
export class Deadlines<Item extends HasDeadline> {
  readonly #options: DeadlinesOptions<Item>
  #watched = 0
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires next. */
  #nextCheck = Infinity

  constructor(options: DeadlinesOptions<Item>) {
    this.#options = options
  }

  /** Called after an item was added to the items. */
  add({ due }: Item): void {
    if (due === Infinity) return
    this.#watched++
    if (due < this.#nextCheck) this.#checkAt(due)
    else if (this.#watched === 1) this.#timer?.ref()
  }

  /** Called after an item got another deadline. */
  update({ due }: Item): void {
    if (due < this.#nextCheck) this.#checkAt(due)
  }

  /** Called after an item was removed. The timer stays for the next item, but does not keep the process alive. */
  remove({ due }: Item): void {
    if (due !== Infinity && --this.#watched === 0) this.#timer?.unref()
  }

  /** Stops the timer, which would keep the items in memory. */
  close(): void {
    clearTimeout(this.#timer)
  }

  #checkAt(due: number): void {
    clearTimeout(this.#timer)
    this.#nextCheck = due
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(due - this.#options.now())))
    if (this.#watched === 0) this.#timer.unref()
  }

  #check(): void {
    this.#nextCheck = Infinity
    const { items, onExpired, now } = this.#options
    const [time, waiting] = [now(), [...items].toSorted((a, b) => a.due - b.due)]
    for (const item of waiting) if (item.due <= time) onExpired(item)
    const next = waiting.find(({ due }) => due > time && due !== Infinity)
    if (next !== undefined && next.due < this.#nextCheck) this.#checkAt(next.due)
  }
}

/** Milliseconds that an answer may take by default, unless it took longer on the tape. */
export const DEFAULT_TIMEOUT = 10_000

/** Returns the milliseconds that the answer to a recorded request may take. */
export function answerTimeout(timeout: number | undefined, { trigger, response }: Turn): number {
  if (timeout !== undefined) return timeout
  if (trigger === undefined || response === undefined) return DEFAULT_TIMEOUT
  return Math.max(DEFAULT_TIMEOUT, Math.ceil(3 * (response.t - trigger.t)))
}

/** What has its time. */
interface HasDeadline {
  /** When it is over at the latest; Infinity when it may take for ever. */
  readonly due: number
}

interface DeadlinesOptions<Item extends HasDeadline> {
  /** What is watched. */
  readonly items: Iterable<Item>
  readonly onExpired: (item: Item) => void
  /** Milliseconds, as they are in `due`. */
  readonly now: () => number
}

/** How long each of many may take, watched by one timer. */
export class Deadlines<Item extends HasDeadline> {
  readonly #options: DeadlinesOptions<Item>
  #watched = 0
  #timer: NodeJS.Timeout | undefined
  /** When the timer looks next. */
  #nextCheck = Infinity

  constructor(options: DeadlinesOptions<Item>) {
    this.#options = options
  }

  /** One more is among the items. */
  add({ due }: Item): void {
    if (due === Infinity) return
    this.#watched++
    if (due < this.#nextCheck) this.#checkAt(due)
    else if (this.#watched === 1) this.#timer?.ref()
  }

  /** It is no longer among them. The timer stays for the next, and does not keep the process alive. */
  remove({ due }: Item): void {
    if (due !== Infinity && --this.#watched === 0) this.#timer?.unref()
  }

  /** Nothing is watched any more: a timer that waits holds all that its items know. */
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

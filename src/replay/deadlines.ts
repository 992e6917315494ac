/** What has its time. */
export interface Timed {
  /** When it is over at the latest; Infinity when it may take for ever. */
  readonly due: number
}

export interface DeadlinesOptions<Item extends Timed> {
  /** What is watched. */
  readonly items: Iterable<Item>
  readonly onOver: (item: Item) => void
  /** Milliseconds, as they are in `due`. */
  readonly now: () => number
}

/** How long each of many may take, watched by one timer. */
export class Deadlines<Item extends Timed> {
  readonly #options: DeadlinesOptions<Item>
  #watched = 0
  #timer: NodeJS.Timeout | undefined
  /** When the timer looks next. */
  #looksAt = Infinity

  constructor(options: DeadlinesOptions<Item>) {
    this.#options = options
  }

  /** One more is among the items. */
  added({ due }: Item): void {
    if (due === Infinity) return
    this.#watched++
    if (due < this.#looksAt) this.#lookAt(due)
    else if (this.#watched === 1) this.#timer?.ref()
  }

  /** It is no longer among them. The timer stays for the next, and does not keep the process alive. */
  deleted({ due }: Item): void {
    if (due !== Infinity && --this.#watched === 0) this.#timer?.unref()
  }

  /** Nothing is watched any more: a timer that waits holds all that its items know. */
  close(): void {
    clearTimeout(this.#timer)
  }

  #lookAt(due: number): void {
    clearTimeout(this.#timer)
    this.#looksAt = due
    this.#timer = setTimeout(() => this.#look(), Math.max(1, Math.ceil(due - this.#options.now())))
    if (this.#watched === 0) this.#timer.unref()
  }

  #look(): void {
    this.#looksAt = Infinity
    const { items, onOver, now } = this.#options
    const [time, waiting] = [now(), [...items]]
    for (const item of waiting) if (item.due <= time) onOver(item)
    const next = waiting.reduce((due, item) => (item.due > time ? Math.min(due, item.due) : due), Infinity)
    if (next < this.#looksAt) this.#lookAt(next)
  }
}

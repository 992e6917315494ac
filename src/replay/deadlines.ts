/** How long each of many may take, watched by one timer. */
export class Deadlines<Item> {
  readonly #onOver: (item: Item, after: number) => void
  readonly #waiting = new Map<Item, { readonly due: number; readonly after: number }>()
  #timer: NodeJS.Timeout | undefined
  /** When the timer looks next. */
  #looksAt = Infinity

  constructor(onOver: (item: Item, after: number) => void) {
    this.#onOver = onOver
  }

  /** Milliseconds from now; what may take for ever is not watched. */
  add(item: Item, after: number): void {
    if (!Number.isFinite(after)) return
    const due = performance.now() + after
    this.#waiting.set(item, { due, after })
    if (due < this.#looksAt) this.#lookAt(due)
    else if (this.#waiting.size === 1) this.#timer?.ref()
  }

  /** It is over in time. The timer stays for the next, and does not keep the process alive. */
  delete(item: Item): void {
    if (this.#waiting.delete(item) && this.#waiting.size === 0) this.#timer?.unref()
  }

  #lookAt(due: number): void {
    clearTimeout(this.#timer)
    this.#looksAt = due
    this.#timer = setTimeout(() => this.#look(), Math.max(1, Math.ceil(due - performance.now())))
  }

  #look(): void {
    this.#looksAt = Infinity
    const now = performance.now()
    let next = Infinity
    for (const [item, { due, after }] of this.#waiting) {
      if (due <= now) this.#end(item, after)
      else next = Math.min(next, due)
    }
    if (next < this.#looksAt) this.#lookAt(next)
  }

  #end(item: Item, after: number): void {
    this.#waiting.delete(item)
    this.#onOver(item, after)
  }
}

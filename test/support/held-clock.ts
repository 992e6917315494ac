import type { Clock } from '../../src/serve/player/clock.ts'

/** A clock that stands still until a test moves it on. */
export class HeldClock implements Clock {
  #now = 0
  #waits: { readonly at: number; readonly action: () => void }[] = []

  readonly now = (): number => this.#now

  readonly after = (ms: number, action: () => void): void => {
    this.#waits.push({ at: this.#now + ms, action })
  }

  /** Lets so many milliseconds pass, and everything happen that is due on the way. */
  pass(ms: number): void {
    const end = this.#now + ms
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#now = next.at
      this.#waits = this.#waits.filter((wait) => wait !== next)
      next.action()
    }
    this.#now = end
  }

  #nextUntil(end: number): { readonly at: number; readonly action: () => void } | undefined {
    return this.#waits.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
  }
}

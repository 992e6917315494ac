import type { Notification } from '../wire/message.ts'
import { updatedIn } from './updated-in.ts'

/** What the server has told of its own accord, by method, and who waits for more of it. */
export class Heard {
  /** The resources that it said have changed. */
  readonly updates: Set<string> = new Set()
  readonly #counts = new Map<string, number>()
  #waiting: (() => void)[] = []
  #isOver = false

  note({ method, params }: Pick<Notification, 'method' | 'params'>): void {
    this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1)
    const uri = updatedIn(method, params)
    if (uri !== '' && this.updates.size < MOST_UPDATES) this.updates.add(uri)
    this.#look()
  }

  /** Nothing more comes: nobody waits for it. */
  end(): void {
    this.#isOver = true
    this.#look()
  }

  count(method: string): number {
    return this.#counts.get(method) ?? 0
  }

  /** Resolves when as much was heard as was wanted, or the time is over: then with the methods that stayed out. */
  async until(wanted: ReadonlyMap<string, number>, milliseconds: number): Promise<readonly string[]> {
    await this.untilSo(() => this.#missing(wanted).length === 0, milliseconds)
    return this.#forgive(this.#missing(wanted))
  }

  /** Resolves when something is so by what was heard, nothing more comes, or the time is over. */
  async untilSo(isSo: () => boolean, milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds
    while (!isSo() && !this.#isOver && performance.now() < deadline)
      await this.#next(deadline - performance.now())
  }

  #look(): void {
    for (const look of this.#waiting.splice(0)) look()
  }

  #missing(wanted: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
    return [...wanted].filter(([method, count]) => this.count(method) < count)
  }

  // Waited for once in vain, it is not waited for again.
  #forgive(missing: readonly (readonly [string, number])[]): readonly string[] {
    for (const [method, count] of missing) this.#counts.set(method, count)
    return missing.map(([method]) => method)
  }

  #next(limit: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limit)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

/** A server that makes up ever new ones fills no memory. */
const MOST_UPDATES = 1000

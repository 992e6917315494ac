import { type Notification, member } from '../../protocol/message.ts'

/** Milliseconds that a message of the server may be late. */
export const SERVER_GRACE = 2000

/** What the server has told of its own accord, by method, and who waits for more of it. */
export class LiveNotifications {
  /** The resources that it said have changed. */
  readonly updates: Set<string> = new Set()
  readonly #counts = new Map<string, number>()
  #waiting: (() => void)[] = []
  #isClosed = false

  add({ method, params }: Pick<Notification, 'method' | 'params'>): void {
    this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1)
    const uri = updatedResource(method, params)
    if (uri !== '' && this.updates.size < MAX_UPDATES) this.updates.add(uri)
    this.#wakeWaiting()
  }

  /** Nothing more comes: nobody waits for it. */
  close(): void {
    this.#isClosed = true
    this.#wakeWaiting()
  }

  count(method: string): number {
    return this.#counts.get(method) ?? 0
  }

  /** Resolves when as much was heard as was wanted, or the time is over: then with the methods that stayed out. */
  async waitForCounts(wanted: ReadonlyMap<string, number>, milliseconds: number): Promise<readonly string[]> {
    await this.waitUntil(() => this.#missing(wanted).length === 0, milliseconds)
    return this.#forgive(this.#missing(wanted))
  }

  /** Resolves when something is so by what was heard, nothing more comes, or the time is over. */
  async waitUntil(isSo: () => boolean, milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds
    while (!isSo() && !this.#isClosed && performance.now() < deadline)
      await this.#nextChange(deadline - performance.now())
  }

  #wakeWaiting(): void {
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

  #nextChange(limit: number): Promise<void> {
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
const MAX_UPDATES = 1000

export const RESOURCE_UPDATED = 'notifications/resources/updated'

/** The resource that has changed, by what the server says; empty when it speaks of something else. */
export function updatedResource(method: string, params: unknown): string {
  const uri = method === RESOURCE_UPDATED ? member(params, 'uri') : undefined
  return typeof uri === 'string' ? uri : ''
}

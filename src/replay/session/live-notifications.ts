import type { Message, Notification, Request } from '../../protocol/message.ts'
import type { Turn } from '../../tape/turns.ts'

/** Milliseconds that a message of the server may be late. */
export const SERVER_GRACE = 2000

/** A notification that belongs to no request for certain. */
export interface LiveNotification {
  readonly method: string
  readonly params: unknown
  /** True if it came while Reelay opened the session: a request of its own may have caused it. */
  readonly isEarly: boolean
  /** True if it came before the first answer to a recorded request, and belongs to no subscription. */
  readonly isAtStart: boolean
  /** Milliseconds without any other message on the connection; 0 if a request was open. */
  readonly pause: number
}

/** Counts the unsolicited messages of the server by method, keeps notifications, and lets callers wait for more. */
export class LiveNotifications {
  readonly #counts = new Map<string, number>()
  readonly #received: LiveNotification[] = []
  #waiting: (() => void)[] = []
  #isClosed = false
  /** True if there were too many notifications to keep them all. */
  isIncomplete = false

  /** The notifications that were kept, in the order in which they came. */
  get received(): readonly LiveNotification[] {
    return this.#received
  }

  /** Counts a message. */
  add({ method }: Pick<Notification, 'method'>): void {
    this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1)
    this.#wakeWaiting()
  }

  /** Keeps a notification, so that it can be compared when the run is over. */
  keep(notification: LiveNotification): void {
    if (this.#received.length < MAX_KEPT) this.#received.push(notification)
    else this.isIncomplete = true
  }

  /** Ends all waits, because nothing more comes. */
  close(): void {
    this.#isClosed = true
    this.#wakeWaiting()
  }

  count(method: string): number {
    return this.#counts.get(method) ?? 0
  }

  /** Waits for a number of messages of each method. Resolves to the methods that are missing when the time is up. */
  async waitForCounts(wanted: ReadonlyMap<string, number>, milliseconds: number): Promise<readonly string[]> {
    await this.waitUntil(() => this.#missing(wanted).length === 0, milliseconds)
    return this.#forgive(this.#missing(wanted))
  }

  /** Waits until a condition holds, nothing more comes, or the time is up. */
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

  // Missing messages are counted as received, so that the next call does not wait for them again.
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

/** A request whose answer came, and what the server had sent on its link by then when it was recorded. */
interface RecordedRequests {
  readonly turn: Turn
  readonly receivedBefore: ReadonlyMap<string, number>
  readonly receivedInAll: ReadonlyMap<string, number>
}

/**
 * Returns the methods of requests that the server sent at another time than recorded. Nothing in a request tells which call it
 * belongs to, so only the total number on the link counts. Waits a moment for late ones.
 */
export async function movedRequests(
  { turn, receivedBefore, receivedInAll }: RecordedRequests,
  asides: readonly { readonly message: Request | Notification }[],
  live: LiveNotifications,
): Promise<ReadonlySet<string>> {
  const recorded = turn.steps.flatMap((step) => (step.kind === 'ask' ? step.request : []))
  if (asides.length === 0 && (recorded.length === 0 || receivedInAll.size === 0)) return NOTHING_MOVED
  const [then, now] = [countRequests(recorded), countRequests(asides)]
  const missing = [...then].filter(([method, count]) => (now.get(method) ?? 0) < count)
  const wanted = new Map(
    missing.map(([method, count]) => [method, (receivedBefore.get(method) ?? 0) + count]),
  )
  const lost = new Set(wanted.size === 0 ? [] : await live.waitForCounts(wanted, SERVER_GRACE))
  const late = [...wanted.keys()].filter((method) => !lost.has(method))
  const early = [...now].flatMap(([method, count]) =>
    count > (then.get(method) ?? 0) && live.count(method) <= (receivedInAll.get(method) ?? 0) ? method : [],
  )
  return new Set([...late, ...early])
}

const NOTHING_MOVED: ReadonlySet<string> = new Set()

function countRequests(sent: readonly { readonly message: Message }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { message } of sent)
    if (message.kind === 'request') counts.set(message.method, (counts.get(message.method) ?? 0) + 1)
  return counts
}

/** Limits the notifications, so that a chatty server cannot fill the memory. */
const MAX_KEPT = 10_000

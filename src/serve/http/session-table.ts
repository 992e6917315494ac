/** How much is kept for the clients of a served tape. */
export interface SessionLimits {
  /** The most sessions of one server. For a new one, the session that was unused for the longest time is ended. The default is 1000. */
  readonly maxSessions?: number | undefined
  /** Ends a session that has no open request and no open stream for this long. The default is an hour. */
  readonly sessionIdleMs?: number | undefined
}

const DEFAULT_MAX_SESSIONS = 1000
const DEFAULT_SESSION_IDLE_MS = 60 * 60 * 1000

interface BoundedSession {
  /** Whether a request or a stream of the client is open. */
  readonly isBusy: boolean
  end(): void
}

interface TableEntry<Session> {
  readonly session: Session
  lastUsed: number
}

/** The open sessions of an endpoint by their ids, limited in number and in idle time. */
export class SessionTable<Session extends BoundedSession> {
  readonly #maxSessions: number
  readonly #idleMs: number
  readonly #entries = new Map<string, TableEntry<Session>>()
  #sweep: NodeJS.Timeout | undefined

  constructor({ maxSessions, sessionIdleMs }: SessionLimits = {}) {
    this.#maxSessions = maxSessions ?? DEFAULT_MAX_SESSIONS
    this.#idleMs = sessionIdleMs ?? DEFAULT_SESSION_IDLE_MS
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  /** Returns the session that a client uses now. */
  use(id: string): Session | undefined {
    const entry = this.#entries.get(id)
    if (entry !== undefined) entry.lastUsed = performance.now()
    return entry?.session
  }

  add(id: string, session: Session): void {
    while (this.#entries.size >= this.#maxSessions) this.end(this.#leastUsed())
    this.#entries.set(id, { session, lastUsed: performance.now() })
    this.#sweep ??= setInterval(() => this.#endIdle(), Math.min(this.#idleMs / 4, MAX_SWEEP_MS)).unref()
  }

  /** Ends a session. Its client has to start a new one. */
  end(id: string): void {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    if (this.#entries.size === 0) this.#stopSweep()
    entry?.session.end()
  }

  /** Ends all sessions. */
  close(): void {
    for (const id of this.#entries.keys()) this.end(id)
  }

  /** A session that is in use is ended only if all are. */
  #leastUsed(): string {
    let [found, foundScore] = ['', Infinity]
    for (const [id, { session, lastUsed }] of this.#entries) {
      const score = session.isBusy ? lastUsed + BUSY_HANDICAP : lastUsed
      if (score < foundScore) [found, foundScore] = [id, score]
    }
    return found
  }

  #endIdle(): void {
    const now = performance.now()
    for (const [id, entry] of this.#entries)
      if (entry.session.isBusy) entry.lastUsed = now
      else if (now - entry.lastUsed >= this.#idleMs) this.end(id)
  }

  #stopSweep(): void {
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }
}

const MAX_SWEEP_MS = 60_000
const BUSY_HANDICAP = Number.MAX_SAFE_INTEGER / 2

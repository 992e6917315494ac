/** What the user allows a tape to become. A limit ends the tape, never the session. */
export interface RecordingLimits {
  readonly maxBytes?: number
  readonly maxMessages?: number
  /** How long nothing may cross the link. */
  readonly idleMs?: number
  /** Begin a new tape at a limit, instead of recording no more. */
  readonly rotate?: boolean
}

/** Says once for each tape that a limit is reached, by the option that sets it. */
export class LimitWatch {
  readonly #limits: RecordingLimits
  readonly #onLimit: (limit: string) => void
  readonly #idle: NodeJS.Timeout | undefined
  #messages = 0
  #isQuiet = false

  constructor(limits: RecordingLimits, onLimit: (limit: string) => void) {
    this.#limits = limits
    this.#onLimit = onLimit
    if (limits.idleMs !== undefined) this.#idle = setTimeout(() => this.#onIdle(), limits.idleMs).unref()
  }

  /** Called whenever something was put on the tape, which then holds so many bytes. */
  update(messages: number, bytes: number): void {
    const { maxBytes = Infinity, maxMessages = Infinity } = this.#limits
    this.#messages += messages
    this.#isQuiet = false
    this.#idle?.refresh()
    if (bytes >= maxBytes) this.#report('max-size')
    else if (this.#messages >= maxMessages) this.#report('max-messages')
  }

  stop(): void {
    clearTimeout(this.#idle)
  }

  /** A link that stays quiet reaches this limit once, not again and again. */
  #onIdle(): void {
    if (this.#isQuiet) return
    this.#report('idle')
    this.#isQuiet = true
  }

  #report(limit: string): void {
    this.#messages = 0
    this.#onLimit(limit)
  }
}

/** What the user wants of a tape, whatever is recorded. */
export interface RecordingRules {
  /** When the tape ends, or the next one begins. */
  readonly limits?: RecordingLimits
  /** Methods that are taped, such as `tools/call` or `resources/*`; without it, all are. */
  readonly only?: readonly string[]
  /** Methods that are not. */
  readonly skip?: readonly string[]
  /** Of a message longer than this only the beginning is taped. Such a message cannot be played. */
  readonly cutBytes?: number
  /** A request that has had no answer for this long is noted on the tape. */
  readonly pendingMs?: number
}

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

import { ReelayError } from '../../errors.ts'

/** The source of time for a run. All waiting goes through one clock, so that tests can control it. */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  now(): number
  after(ms: number, action: () => void): void
}

/** The system clock. The end of a run can wait for pending actions or discard them. */
export class SystemClock implements Clock {
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #onIdle: (() => void)[] = []
  #isStopped = false

  readonly now = (): number => performance.now()

  readonly after = (ms: number, action: () => void): void => {
    if (this.#isStopped) return
    const timer = setTimeout(() => {
      action()
      this.#timers.delete(timer)
      this.#reportIdle()
    }, ms)
    this.#timers.add(timer)
  }

  /** Resolves when no action is pending. */
  async idle(): Promise<void> {
    if (this.#timers.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  /** Discards pending actions and ignores new ones. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.#reportIdle()
  }

  #reportIdle(): void {
    if (this.#timers.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}

// Long enough for an idle client to read what was written before, and too short to be noticed.
const CLIENT_PAUSE_MS = 50

/** Returns a function that resumes after a short pause in which the client can read what was sent. */
export function clientPause(clock: Clock): (resume: () => void) => void {
  return (resume) => clock.after(CLIENT_PAUSE_MS, resume)
}

/** The speed at which a tape is played: 1 keeps the recorded times, 2 is twice as fast. */
export interface Pace {
  readonly speed: number
  /** The longest single wait, in milliseconds. */
  readonly cap?: number
}

/** Parses `none`, `recorded`, `x2` or `2`. Returns `undefined` for `none`. */
export function parsePace(text: string, cap?: number): Pace | undefined {
  if (text === 'none') return undefined
  const speed = text === 'recorded' ? 1 : Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1])
  if (speed > 0) return { speed, ...(cap !== undefined && { cap }) }
  throw new ReelayError('USAGE', `invalid pace ${JSON.stringify(text)}`, {
    hint: 'use none, recorded, or a factor such as x2 or x0.5',
  })
}

/** Computes when the messages of one turn are due: as long after the previous one as on the tape, at the chosen pace. */
export class Pacer {
  readonly #pace: Pace
  readonly #clock: Clock
  /** The last message: its time on the tape, and its time in this run. */
  #recorded: number
  #live: number

  /** `recorded` is the time on the tape at which the turn began. */
  constructor(pace: Pace, clock: Clock, recorded: number) {
    this.#pace = pace
    this.#clock = clock
    this.#recorded = recorded
    this.#live = clock.now()
  }

  /** Restarts at a message that depended on something else and happens now. */
  restartAt(recorded: number): void {
    this.#recorded = recorded
    this.#live = this.#clock.now()
  }

  /** Continues from a message that was sent when it was due. */
  advanceTo(recorded: number): void {
    this.#live = this.#dueTime(recorded)
    this.#recorded = recorded
  }

  /** Returns the milliseconds until the message at this time on the tape is due. */
  waitFor(recorded: number): number {
    return Math.max(0, this.#dueTime(recorded) - this.#clock.now())
  }

  #dueTime(recorded: number): number {
    const { speed, cap = Infinity } = this.#pace
    return this.#live + Math.min(cap, Math.max(0, recorded - this.#recorded) / speed)
  }
}

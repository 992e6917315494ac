import type { Spoken, Step, Turn } from '../tape/turn.ts'
import type { Clock } from './clock.ts'
import { Pacer, type Pace } from './pace.ts'

/** What a turn needs from the link that it is played on. */
export interface Stage {
  /** Sends a recorded notification in its live form; false when the live client is not to get it. */
  readonly notify: (notification: Spoken) => boolean
  /** Sends a recorded request of the server. */
  readonly ask: (playing: Playing, ask: AskStep) => void
  readonly respond: (playing: Playing, response: Spoken) => void
  /** Whether what comes before this message on the tape has happened. */
  readonly isDue: (message: Spoken) => boolean
  /** Calls back once the client had a chance to read what was sent. */
  readonly later: (resume: () => void) => void
  readonly clock: Clock
  readonly pace: Pace | undefined
}

/** A recorded request of the server, the recorded answer, and what is to be called when the live client answers. */
export interface AskStep {
  readonly request: Spoken
  readonly answer: Spoken | undefined
  readonly answered: () => void
}

/** One recorded turn on its way to the live client: step by step in recorded order, waiting where the tape waited. */
export class Playing {
  readonly turn: Turn
  readonly #stage: Stage
  readonly #pacer: Pacer | undefined
  /** Recorded messages of the client that the live client has not sent yet. */
  readonly #awaited = new Set<Spoken>()
  #next = 0
  #state: 'going' | 'resting' | 'stopped' = 'going'
  #hasFreshProgress = false
  #wasHeldUp = false

  /** `cancel` is the client's recorded cancellation, when something of the turn came after it. */
  constructor(turn: Turn, stage: Stage, cancel?: Spoken) {
    this.turn = turn
    this.#stage = stage
    const began = turn.trigger ?? (turn.steps[0] && messageOf(turn.steps[0]))
    if (stage.pace && began) this.#pacer = new Pacer(stage.pace, stage.clock, began.t)
    if (cancel !== undefined) this.#awaited.add(cancel)
  }

  /** Plays all steps that are due; to be called again when something happened that a step may wait for. */
  go(): void {
    for (let step = this.#due(); step !== undefined; step = this.#due()) {
      this.#next++
      this.#pacer?.played(messageOf(step).t)
      this.#play(step)
    }
  }

  stop(): void {
    this.#state = 'stopped'
  }

  /** The live client sent what the tape has here. */
  heard(message: Spoken): void {
    if (!this.#awaited.delete(message)) return
    this.#pacer?.happened(message.t)
    this.#hasFreshProgress = false
  }

  /** How many steps were not played. */
  get left(): number {
    return this.turn.steps.length - this.#next
  }

  #due(): Step | undefined {
    const step = this.turn.steps[this.#next]
    if (step === undefined || this.#state !== 'going' || !this.#isDue(messageOf(step))) return undefined
    if (this.#isEarly(messageOf(step))) return undefined
    if (step.kind !== 'respond' || !this.#hasFreshProgress) return step
    this.#hasFreshProgress = false
    this.#rest(this.#stage.later)
    return undefined
  }

  #isDue(message: Spoken): boolean {
    for (const awaited of this.#awaited) if (awaited.n < message.n) return false
    if (this.#stage.isDue(message)) return true
    this.#wasHeldUp = true
    return false
  }

  /** What had to wait for something else comes as soon as that has happened. */
  #isEarly(message: Spoken): boolean {
    if (this.#wasHeldUp) this.#pacer?.happened(message.t)
    this.#wasHeldUp = false
    const wait = this.#pacer?.wait(message.t) ?? 0
    if (wait > 0) this.#rest((resume) => this.#stage.clock.after(wait, resume))
    return wait > 0
  }

  // SDK clients lose progress that they read together with the answer: they forget the token before they handle it.
  #rest(later: (resume: () => void) => void): void {
    this.#state = 'resting'
    later(() => {
      if (this.#state === 'resting') this.#state = 'going'
      this.go()
    })
  }

  #play(step: Step): void {
    if (step.kind === 'ask') this.#ask(step.request, step.answer)
    else if (step.kind === 'respond') this.#stage.respond(this, step.message)
    else if (this.#stage.notify(step.message)) this.#hasFreshProgress ||= isProgress(step.message)
  }

  #ask(request: Spoken, answer: Spoken | undefined): void {
    if (answer !== undefined) this.#awaited.add(answer)
    const answered = (): void => {
      if (answer !== undefined) this.heard(answer)
      this.go()
    }
    this.#stage.ask(this, { request, answer, answered })
  }
}

function messageOf(step: Step): Spoken {
  return step.kind === 'ask' ? step.request : step.message
}

function isProgress({ message }: Spoken): boolean {
  return message.kind === 'notification' && message.method === 'notifications/progress'
}

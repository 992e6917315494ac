import type { RecordedMessage, TurnStep, Turn } from '../../tape/turn.ts'
import type { Clock } from './clock.ts'
import { Pacer, type Pace } from './pace.ts'

/** What a turn needs from the link that it is played on. */
export interface TurnContext {
  /** Sends a recorded notification in its live form; false when the live client is not to get it. */
  readonly notify: (notification: RecordedMessage) => boolean
  /** Sends a recorded request of the server. */
  readonly sendRequest: (playing: TurnPlayer, ask: ServerRequestStep) => void
  readonly respond: (playing: TurnPlayer, response: RecordedMessage) => void
  /** Whether what comes before this message on the tape has happened. */
  readonly isDue: (message: RecordedMessage) => boolean
  /** Calls back once the client had a chance to read what was sent. */
  readonly later: (resume: () => void) => void
  readonly clock: Clock
  readonly pace: Pace | undefined
}

/** A recorded request of the server, the recorded answer, and what is to be called when the live client answers. */
export interface ServerRequestStep {
  readonly request: RecordedMessage
  readonly answer: RecordedMessage | undefined
  readonly answered: () => void
}

/** One recorded turn on its way to the live client: step by step in recorded order, waiting where the tape waited. */
export class TurnPlayer {
  readonly turn: Turn
  readonly #context: TurnContext
  readonly #pacer: Pacer | undefined
  /** Recorded messages of the client that the live client has not sent yet. */
  readonly #awaited = new Set<RecordedMessage>()
  #next = 0
  #state: 'going' | 'resting' | 'stopped' = 'going'
  #hasFreshProgress = false
  #wasHeldUp = false

  /** `cancel` is the client's recorded cancellation, when something of the turn came after it. */
  constructor(turn: Turn, stage: TurnContext, cancel?: RecordedMessage) {
    this.turn = turn
    this.#context = stage
    const began = turn.trigger ?? (turn.steps[0] && messageOf(turn.steps[0]))
    if (stage.pace && began) this.#pacer = new Pacer(stage.pace, stage.clock, began.t)
    if (cancel !== undefined) this.#awaited.add(cancel)
  }

  /** Plays all steps that are due; to be called again when something happened that a step may wait for. */
  advance(): void {
    for (let step = this.#nextDueStep(); step !== undefined; step = this.#nextDueStep()) {
      this.#next++
      this.#pacer?.markPlayed(messageOf(step).t)
      this.#play(step)
    }
  }

  stop(): void {
    this.#state = 'stopped'
  }

  /** The live client sent what the tape has here. */
  receivedFromClient(message: RecordedMessage): void {
    if (!this.#awaited.delete(message)) return
    this.#pacer?.restartAt(message.t)
    this.#hasFreshProgress = false
  }

  /** How many steps were not played. */
  get remaining(): number {
    return this.turn.steps.length - this.#next
  }

  #nextDueStep(): TurnStep | undefined {
    const step = this.turn.steps[this.#next]
    if (step === undefined || this.#state !== 'going' || !this.#isDue(messageOf(step))) return undefined
    if (this.#isEarly(messageOf(step))) return undefined
    if (step.kind !== 'respond' || !this.#hasFreshProgress) return step
    this.#hasFreshProgress = false
    this.#pause(this.#context.later)
    return undefined
  }

  #isDue(message: RecordedMessage): boolean {
    for (const awaited of this.#awaited) if (awaited.n < message.n) return false
    if (this.#context.isDue(message)) return true
    this.#wasHeldUp = true
    return false
  }

  /** What had to wait for something else comes as soon as that has happened. */
  #isEarly(message: RecordedMessage): boolean {
    if (this.#wasHeldUp) this.#pacer?.restartAt(message.t)
    this.#wasHeldUp = false
    const wait = this.#pacer?.wait(message.t) ?? 0
    if (wait > 0) this.#pause((resume) => this.#context.clock.after(wait, resume))
    return wait > 0
  }

  // SDK clients lose progress that they read together with the answer: they forget the token before they handle it.
  #pause(later: (resume: () => void) => void): void {
    this.#state = 'resting'
    later(() => {
      if (this.#state === 'resting') this.#state = 'going'
      this.advance()
    })
  }

  #play(step: TurnStep): void {
    if (step.kind === 'ask') this.#sendRequest(step.request, step.answer)
    else if (step.kind === 'respond') this.#context.respond(this, step.message)
    else if (this.#context.notify(step.message)) this.#hasFreshProgress ||= isProgress(step.message)
  }

  #sendRequest(request: RecordedMessage, answer: RecordedMessage | undefined): void {
    if (answer !== undefined) this.#awaited.add(answer)
    const answered = (): void => {
      if (answer !== undefined) this.receivedFromClient(answer)
      this.advance()
    }
    this.#context.sendRequest(this, { request, answer, answered })
  }
}

function messageOf(step: TurnStep): RecordedMessage {
  return step.kind === 'ask' ? step.request : step.message
}

function isProgress({ message }: RecordedMessage): boolean {
  return message.kind === 'notification' && message.method === 'notifications/progress'
}

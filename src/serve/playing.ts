import type { Spoken, Step, Turn } from '../tape/turn.ts'

/** What a turn needs from the link that it is played on. */
export interface Stage {
  /** Sends a recorded notification in its live form; false when the live client is not to get it. */
  readonly notify: (notification: Spoken) => boolean
  /** Sends a recorded request of the server; `answered` is called when the live client answers. */
  readonly ask: (request: Spoken, recorded: Spoken | undefined, answered: () => void) => void
  readonly respond: (response: Spoken) => void
  /** Whether what comes before this message on the tape has happened. */
  readonly isDue: (message: Spoken) => boolean
  /** Calls back once the client had a chance to read what was sent. */
  readonly later: (resume: () => void) => void
}

/** One recorded turn on its way to the live client: step by step in recorded order, waiting where the tape waited. */
export class Playing {
  readonly turn: Turn
  readonly #stage: Stage
  /** Recorded answers of the client that the live client has not given yet. */
  readonly #awaited = new Set<Spoken>()
  #next = 0
  #state: 'going' | 'resting' | 'stopped' = 'going'
  #hasFreshProgress = false

  constructor(turn: Turn, stage: Stage) {
    this.turn = turn
    this.#stage = stage
  }

  /** Plays all steps that are due; to be called again when something happened that a step may wait for. */
  go(): void {
    for (let step = this.#due(); step !== undefined; step = this.#due()) {
      this.#next++
      this.#play(step)
    }
  }

  stop(): void {
    this.#state = 'stopped'
  }

  /** How many steps were not played. */
  get left(): number {
    return this.turn.steps.length - this.#next
  }

  #due(): Step | undefined {
    const step = this.turn.steps[this.#next]
    if (step === undefined || this.#state !== 'going' || !this.#isDue(messageOf(step))) return undefined
    if (step.kind !== 'respond' || !this.#hasFreshProgress) return step
    this.#rest()
    return undefined
  }

  #isDue(message: Spoken): boolean {
    for (const answer of this.#awaited) if (answer.n < message.n) return false
    return this.#stage.isDue(message)
  }

  // SDK clients lose progress that they read together with the answer: they forget the token before they handle it.
  #rest(): void {
    this.#state = 'resting'
    this.#hasFreshProgress = false
    this.#stage.later(() => {
      if (this.#state === 'resting') this.#state = 'going'
      this.go()
    })
  }

  #play(step: Step): void {
    if (step.kind === 'ask') this.#ask(step.request, step.answer)
    else if (step.kind === 'respond') this.#stage.respond(step.message)
    else if (this.#stage.notify(step.message)) this.#hasFreshProgress ||= isProgress(step.message)
  }

  #ask(request: Spoken, recorded: Spoken | undefined): void {
    if (recorded !== undefined) this.#awaited.add(recorded)
    this.#stage.ask(request, recorded, () => {
      if (recorded !== undefined) this.#awaited.delete(recorded)
      this.#hasFreshProgress = false
      this.go()
    })
  }
}

function messageOf(step: Step): Spoken {
  return step.kind === 'ask' ? step.request : step.message
}

function isProgress({ message }: Spoken): boolean {
  return message.kind === 'notification' && message.method === 'notifications/progress'
}

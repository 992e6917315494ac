import type { ReplayController } from './controller.ts'
import { type PlannedMessage, RUN_STOPPED } from './plan/plan.ts'
import { deferred } from './session/live-calls.ts'

/** Values on their way from where they are made to where they are awaited, in order. */
class AsyncQueue<Value> implements AsyncIterable<Value> {
  readonly #values: Value[] = []
  #wake: () => void = () => {}
  #failure: { readonly error: unknown } | undefined
  #isClosed = false

  push(value: Value): void {
    this.#values.push(value)
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Whoever awaits the next value gets the error, after the values that came before it. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    this.close()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      for (const value of this.#values.splice(0)) yield value
      if (this.#values.length > 0) continue
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#isClosed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

/** A message of a stepped run that waits for someone to say what becomes of it. */
export interface Stop {
  /** Its place among the client's messages on the tape, from 0, and its frame there. */
  readonly index: number
  readonly frame: number
  readonly method: string
  readonly tool: string | undefined
  /** What would be sent, with live values in it, but for the id that it gets; undefined when a value that it needs is not known. */
  readonly text: string | undefined
  /** Sends it, and stops before the one after it. */
  next(): void
  /** Leaves it out, and stops before the one after it. */
  skip(): void
  /** Sends it and all that follow. */
  goOn(): void
  /** Sends nothing more. */
  quit(): void
}

/** Whether a message goes out; if not, why. */
export type StopDecision = { readonly kind: 'go' } | { readonly kind: 'skip'; readonly why: string }

/** The stops of a run that goes step by step, each given out once. */
export class StopQueue extends AsyncQueue<Stop> {
  readonly #controller: ReplayController
  #isResumed = false
  #decide: (decision: StopDecision) => void = () => {}

  constructor(controller: ReplayController) {
    super()
    this.#controller = controller
    controller.stopped.addEventListener('abort', () => this.#decide(STOPPED), { once: true })
  }

  /** Resolves when it is decided what becomes of a message. */
  async waitAt(
    { index, turn, message, tool, fate }: PlannedMessage,
    text: string | undefined,
  ): Promise<StopDecision> {
    if (this.#isResumed || fate.kind !== 'send') return GO
    const { promise, resolve } = deferred<StopDecision>()
    this.#decide = resolve
    const frame = turn.trigger?.n ?? 0
    this.push({ index, frame, method: message.method, tool, text, ...this.#actions(resolve) })
    return promise
  }

  #actions(decide: (decision: StopDecision) => void): Pick<Stop, 'next' | 'skip' | 'goOn' | 'quit'> {
    return {
      next: () => decide(GO),
      skip: () => decide({ kind: 'skip', why: 'left out by hand' }),
      goOn: () => {
        this.#isResumed = true
        decide(GO)
      },
      quit: () => this.#controller.stop(),
    }
  }
}

const GO: StopDecision = { kind: 'go' }
const STOPPED: StopDecision = { kind: 'skip', why: RUN_STOPPED }

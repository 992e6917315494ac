import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PlannedMessage } from './plan/plan.ts'
import { RUN_STOPPED } from './steps/step.ts'

export type RunStatus = 'idle' | 'running' | 'paused' | 'stopped' | 'done'

/** Pauses, resumes and stops a run. Requests that were already sent still get their answers. */
export class ReplayController {
  #status: RunStatus = 'idle'
  #wake: (() => void)[] = []
  readonly #stopping = new AbortController()

  constructor() {
    setMaxListeners(0, this.stopped) // many waits listen at once, which is not a leak
  }

  get status(): RunStatus {
    return this.#status
  }

  /** Called when a run begins. One controller can be used for several runs, one after the other. */
  start(): void {
    if (this.#status === 'idle' || this.#status === 'done') this.#setStatus('running')
  }

  pause(): void {
    if (this.#status === 'running' || this.#status === 'idle') this.#setStatus('paused')
  }

  resume(): void {
    if (this.#status === 'paused') this.#setStatus('running')
  }

  /** Sends nothing more. Messages that were not sent are reported as skipped. */
  stop(): void {
    if (this.#status !== 'done') this.#setStatus('stopped')
  }

  /** Aborted when the run is stopped. */
  get stopped(): AbortSignal {
    return this.#stopping.signal
  }

  finish(): void {
    if (this.#status !== 'stopped') this.#setStatus('done')
  }

  /** Waits while the run is paused. Resolves to false if the run was stopped. */
  async waitUntilRunning(): Promise<boolean> {
    while (this.#status === 'paused') await new Promise<void>((resolve) => this.#wake.push(resolve))
    return this.#status === 'running'
  }

  /** Waits for a number of milliseconds. Resolves to false as soon as the run is stopped. */
  wait(milliseconds: number): Promise<boolean> {
    return sleep(milliseconds, true, { signal: this.stopped }).catch(() => false)
  }

  #setStatus(status: RunStatus): void {
    this.#status = status
    if (status === 'stopped') this.#stopping.abort()
    for (const wake of this.#wake.splice(0)) wake()
  }
}

/** Hands values in order to a reader that awaits them. */
class AsyncQueue<Value> implements AsyncIterable<Value> {
  readonly #values: Value[] = []
  #wake: () => void = () => {}
  #isClosed = false

  push(value: Value): void {
    this.#values.push(value)
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      for (const value of this.#values.splice(0)) yield value
      if (this.#values.length > 0) continue
      if (this.#isClosed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

/** A message of a stepped run that waits for a decision. */
export interface Stop {
  /** Position among the client's messages on the tape, from 0. */
  readonly index: number
  readonly frame: number
  /** The number of the exchange that the request began; `undefined` for a notification. */
  readonly exchange?: number | undefined
  readonly method: string
  readonly tool: string | undefined
  /** The text that would be sent, with live values, except for its id; `undefined` if a live value is missing. */
  readonly text: string | undefined
  /** Sends the message and stops at the next one. */
  next(): void
  /** Skips the message and stops at the next one. */
  skip(): void
  /** Sends the message and all that follow. */
  goOn(): void
  /** Stops the run. */
  quit(): void
}

/** The decision about a message of a stepped run. */
export type StopDecision = { readonly kind: 'go' } | { readonly kind: 'skip'; readonly why: string }

/** The stops of a stepped run. */
export class StopQueue extends AsyncQueue<Stop> {
  readonly #controller: ReplayController
  #isResumed = false
  #decide: (decision: StopDecision) => void = () => {}

  constructor(controller: ReplayController) {
    super()
    this.#controller = controller
    controller.stopped.addEventListener('abort', () => this.#decide(STOPPED), { once: true })
  }

  /** Waits for the decision about a message. */
  async waitAt(
    { index, turn, message, tool, fate }: PlannedMessage,
    text: string | undefined,
  ): Promise<StopDecision> {
    if (this.#isResumed || fate.kind !== 'send') return GO
    const [frame, { exchange }] = [turn.trigger?.n ?? 0, turn]
    return new Promise((resolve) => {
      this.#decide = resolve
      this.push({ index, frame, exchange, method: message.method, tool, text, ...this.#actions(resolve) })
    })
  }

  #actions(decide: (decision: StopDecision) => void): Pick<Stop, 'next' | 'skip' | 'goOn' | 'quit'> {
    return {
      next: () => decide(GO),
      skip: () => decide({ kind: 'skip', why: 'skipped by the user' }),
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

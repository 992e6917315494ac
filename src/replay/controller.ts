import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PlannedMessage, RUN_STOPPED } from './plan/plan.ts'

export type RunStatus = 'idle' | 'running' | 'paused' | 'stopped' | 'done'

/** Holds, resumes and stops a run from outside; what is on its way is let come in. */
export class ReplayController {
  #status: RunStatus = 'idle'
  #wake: (() => void)[] = []
  readonly #stopping = new AbortController()

  constructor() {
    setMaxListeners(0, this.stopped) // any number may wait at once: that is no leak
  }

  get status(): RunStatus {
    return this.#status
  }

  /** A run begins; a controller may be given to one run after the other. */
  start(): void {
    if (this.#status === 'idle' || this.#status === 'done') this.#setStatus('running')
  }

  pause(): void {
    if (this.#status === 'running' || this.#status === 'idle') this.#setStatus('paused')
  }

  resume(): void {
    if (this.#status === 'paused') this.#setStatus('running')
  }

  /** Nothing more is sent; what was not sent is reported as left out. */
  stop(): void {
    if (this.#status !== 'done') this.#setStatus('stopped')
  }

  /** Aborted when nothing more may be sent. */
  get stopped(): AbortSignal {
    return this.#stopping.signal
  }

  finish(): void {
    if (this.#status !== 'stopped') this.#setStatus('done')
  }

  /** Resolves when the next message may go out; false when none may. */
  async waitUntilRunning(): Promise<boolean> {
    while (this.#status === 'paused') await new Promise<void>((resolve) => this.#wake.push(resolve))
    return this.#status === 'running'
  }

  /** Resolves after so many milliseconds, or with false as soon as nothing more may be sent. */
  wait(milliseconds: number): Promise<boolean> {
    return sleep(milliseconds, true, { signal: this.stopped }).catch(() => false)
  }

  #setStatus(status: RunStatus): void {
    this.#status = status
    if (status === 'stopped') this.#stopping.abort()
    for (const wake of this.#wake.splice(0)) wake()
  }
}

/** Values on their way from where they are made to where they are awaited, in order. */
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
    const frame = turn.trigger?.n ?? 0
    return new Promise((resolve) => {
      this.#decide = resolve
      this.push({ index, frame, method: message.method, tool, text, ...this.#actions(resolve) })
    })
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

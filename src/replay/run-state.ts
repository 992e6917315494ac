import { isUnchanged, type StepOutcome } from './as-recorded.ts'
import type { ReplayController, RunStatus } from './controller.ts'
import type { LiveCall } from './session/live-calls.ts'
import { hasFailed } from './failed.ts'

/** Where a run stands at this moment. */
export interface RunState {
  readonly status: RunStatus
  /** The message that was looked at last, by its place among those of the client. */
  readonly currentIndex: number | undefined
  /** Messages that went out and came in, the handshake's included. */
  readonly sent: number
  readonly received: number
  /** Steps that are not as recorded, or got no answer. */
  readonly errors: number
  readonly startedAt: Date
  /** Milliseconds. */
  readonly elapsed: number
  /** Requests that wait for their answers. */
  readonly pending: readonly PendingCall[]
}

export interface PendingCall {
  readonly id: string | number
  /** The JSON text that was sent. */
  readonly text: string
  /** Milliseconds from the start of the run. */
  readonly sentAt: number
}

/** What the live links know. */
export interface LinkTraffic {
  readonly sent: number
  readonly received: number
  readonly open: readonly LiveCall[]
}

/** Looks on while a run goes on. */
export class RunMonitor {
  readonly #controller: ReplayController
  readonly #startedAt = new Date()
  readonly #started = performance.now()
  #traffic: () => LinkTraffic = () => ({ sent: 0, received: 0, open: [] })
  #currentIndex: number | undefined
  #errors = 0
  #elapsed: number | undefined

  constructor(controller: ReplayController) {
    this.#controller = controller
  }

  connected(traffic: () => LinkTraffic): void {
    this.#traffic = traffic
  }

  stepStarted(index: number): void {
    this.#currentIndex = index
  }

  stepEnded(step: StepOutcome): void {
    if (isUnchanged(step)) return
    if (hasFailed(step) || step.state === 'timeout' || step.state === 'lost') this.#errors++
  }

  /** The run is over: its time stands still. */
  stop(): void {
    this.#elapsed = performance.now() - this.#started
  }

  get state(): RunState {
    const { sent, received, open } = this.#traffic()
    return {
      status: this.#controller.status,
      currentIndex: this.#currentIndex,
      sent,
      received,
      errors: this.#errors,
      startedAt: this.#startedAt,
      elapsed: this.#elapsed ?? performance.now() - this.#started,
      pending: open.map(({ id, text, sentAt }) => ({ id, text, sentAt })),
    }
  }
}

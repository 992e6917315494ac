import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveCall } from './session/live-calls.ts'
import { hasFailed, type ReplayStep } from './steps/step.ts'

type RunStatus = 'idle' | 'running' | 'paused' | 'stopped' | 'done'

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

  stepEnded(step: ReplayStep): void {
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

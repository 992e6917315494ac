import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

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

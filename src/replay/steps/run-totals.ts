import { Histogram } from '../../histogram.ts'
import type { RunStatus } from '../control/commands.ts'
import type { ReplayController } from '../control/controller.ts'
import type { LinkTraffic } from '../session/peer.ts'
import {
  hasFailed,
  type StepState,
  STOPPED_BEFORE_ANSWER,
  LAYERS,
  type Layer,
  RUN_STOPPED,
  type StepOutline,
} from './step.ts'

/** Counts the steps of a run. */
export class RunTotals {
  readonly histogram: Histogram = new Histogram()
  readonly layers: Record<Layer, number> = Object.fromEntries(LAYERS.map((layer) => [layer, 0])) as Record<
    Layer,
    number
  >
  readonly #states = new Map<StepState, number>()
  total = 0
  sent = 0
  /** Requests that were made to fail instead of being sent. */
  injected = 0
  /** Requests that were sent or made to fail. */
  requests = 0
  /** Requests without an answer, and those that were answered with an error. */
  errors = 0
  /** Requests whose answers have findings of the level `error`. */
  failedRequests = 0
  /** Requests without an answer or with errors. */
  badRequests = 0
  /** Requests that a rule excluded. */
  skippedByRule = 0
  /** Requests whose answers were not compared, because validation is off. */
  unjudged = 0
  /** Requests that the tape has no response to, so that nothing was compared. */
  unrecorded = 0
  /** True if any step has errors. */
  hasFailed = false
  /** True if any message that should have been sent was not. */
  isIncomplete = false
  /** Names of rules that changed a message. */
  readonly rules: Set<string> = new Set()

  add(step: StepOutline): void {
    const { state, sentAt, why, transformedBy } = step
    this.total++
    this.#states.set(state, this.count(state) + 1)
    this.hasFailed ||= hasFailed(step)
    this.isIncomplete ||= state === 'held' || state === 'unbound' || wasStopped(why)
    for (const name of transformedBy) this.rules.add(name)
    if (step.isInjected) this.injected++
    else if (sentAt !== undefined) this.sent++
    // A difference can be found all the same, such as a response that does not match a schema.
    const isUnrecorded = step.isUnrecorded === true && !hasFailed(step)
    if (isUnrecorded && !step.isInjected) this.unrecorded++
    if (isSentRequest(step)) this.#addRequest(step, isUnrecorded)
  }

  count(state: StepState): number {
    return this.#states.get(state) ?? 0
  }

  #addRequest(step: StepOutline, isUnrecorded: boolean): void {
    this.requests++
    if (step.state !== 'done' || step.isError) this.errors++
    if (step.state === 'done' && step.duration !== undefined && !step.isInjected)
      this.histogram.add(step.duration)
    if (hasFailed(step)) this.failedRequests++
    if (hasFailed(step) || (step.state !== 'done' && !isUnrecorded)) this.badRequests++
    if (isSkippedByRule(step)) this.skippedByRule++
    if (step.judgedBy.length === 0 || isUnrecorded) this.unjudged++
    for (const { layer } of step.findings) this.layers[layer]++
  }
}

/** Returns true if a rule excluded the answer and it has no errors. */
export function isSkippedByRule(step: Pick<StepOutline, 'findings'>): boolean {
  return !hasFailed(step) && step.findings.some(({ level }) => level === 'skip')
}

function wasStopped(why: string | undefined): boolean {
  return why === RUN_STOPPED || why === STOPPED_BEFORE_ANSWER
}

function isSentRequest({ sentAt, duration, state }: StepOutline): boolean {
  return sentAt !== undefined && (duration !== undefined || state === 'timeout' || state === 'lost')
}

/** The progress of a run. */
export interface RunState {
  readonly status: RunStatus
  /** Index of the last message that was processed. */
  readonly currentIndex: number | undefined
  /** Messages that were sent and received, including the handshake. */
  readonly sent: number
  readonly received: number
  /** Steps with errors or without an answer. */
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

/** Keeps the progress of a run. */
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

  stepEnded(step: StepOutline): void {
    if (hasFailed(step) || step.state === 'timeout' || step.state === 'lost') this.#errors++
  }

  /** Called when the run is over; stops the clock. */
  stop(): void {
    this.#elapsed = performance.now() - this.#started
  }

  state(): RunState {
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

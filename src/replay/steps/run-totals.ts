import type { ReplayController, RunStatus } from '../controller.ts'
import type { LinkTraffic } from '../session/peer.ts'
import { RUN_STOPPED } from '../plan/plan.ts'
import { hasFailed, type StepState, STOPPED_BEFORE_ANSWER } from './step.ts'
import type { StepOutline } from './step-list.ts'
import { Histogram } from './histogram.ts'
import { LAYERS, type Layer } from '../judge/judged-answer.ts'

/** The numbers of a run, counted as its steps come. */
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
  /** Requests that were sent or made to fail, those of them that got no answer, and those that are not as recorded. */
  requests = 0
  unanswered = 0
  failedRequests = 0
  /** Requests that were not answered, or not as recorded. */
  badRequests = 0
  /** Requests that a rule took out of the verdict. */
  skippedByRule = 0
  /** Requests whose answers nobody compared, because the user did not want it. */
  unjudged = 0
  /** Whether anything at all is not as recorded. */
  hasFailed = false
  /** Whether anything was to be sent, and could not be. */
  isIncomplete = false
  /** Names of the rules that changed a message. */
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
    if (isSentRequest(step)) this.#addRequest(step)
  }

  count(state: StepState): number {
    return this.#states.get(state) ?? 0
  }

  #addRequest(step: StepOutline): void {
    this.requests++
    if (step.state !== 'done') this.unanswered++
    else if (step.duration !== undefined && !step.isInjected) this.histogram.add(step.duration)
    if (hasFailed(step)) this.failedRequests++
    if (hasFailed(step) || step.state !== 'done') this.badRequests++
    if (isSkippedByRule(step)) this.skippedByRule++
    if (step.judgedBy.length === 0) this.unjudged++
    for (const { layer } of step.findings) this.layers[layer]++
  }
}

/** Whether a rule took the answer out of the verdict, and nothing else is wrong with it. */
export function isSkippedByRule(step: Pick<StepOutline, 'findings'>): boolean {
  return !hasFailed(step) && step.findings.some(({ level }) => level === 'skip')
}

/** Whether the end of the run came before its own. */
function wasStopped(why: string | undefined): boolean {
  return why === RUN_STOPPED || why === STOPPED_BEFORE_ANSWER
}

function isSentRequest({ sentAt, duration, state }: StepOutline): boolean {
  return sentAt !== undefined && (duration !== undefined || state === 'timeout' || state === 'lost')
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

  stepEnded(step: StepOutline): void {
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

import { setTimeout as sleep } from 'node:timers/promises'
import type { ReplayController } from '../controller.ts'
import { NO_FINDINGS, type StepFinding } from '../judge/judged-answer.ts'
import { isNeverAnswered, type PlannedMessage, isCancellation } from '../plan/plan.ts'
import type { Schedule } from '../plan/schedule.ts'
import { dueTimes, isUnpaced, type Timing } from '../plan/timing.ts'
import type { SendCallbacks } from './message-sender.ts'
import type { StopDecision } from '../stepping.ts'
import { hasFailed, type ReplayStep, RUN_STOPPED, type SentRequest } from '../steps/step.ts'

export interface SendRun {
  readonly order: Schedule
  readonly timing: Timing
  readonly maxConcurrent: number
  readonly controller: ReplayController
  /** What to do after a step that failed; retrying is the performer's own affair. */
  readonly onError: 'continue' | 'pause' | 'stop'
  /** Waits for what the server had said of its own accord by then; gives up on what does not come. */
  readonly ready: (planned: PlannedMessage) => Promise<readonly StepFinding[]>
  /** Sends one message and says what became of it; never fails because of the peer. */
  readonly perform: (planned: PlannedMessage, performance: SendCallbacks) => void
  /** Everything else is over: what never gets an answer is no longer waited for. */
  readonly release: () => void
  readonly skip: (planned: PlannedMessage, why: string) => ReplayStep
  /** Waits for someone to say whether a message goes out; undefined when nobody is asked. */
  readonly stop: ((planned: PlannedMessage) => Promise<StopDecision>) | undefined
  /** Resolves when whoever looks at the results has kept up; undefined when nobody has to be waited for. */
  readonly waitForReader: () => Promise<void> | undefined
  /** Takes each result as it is known. */
  readonly onResult: (step: ReplayStep, sent?: SentRequest) => void
  /** Milliseconds from the start of the run. */
  readonly now: () => number
}

/** Sends every message when what it waits for is over and its time has come; resolves when all are over. */
export async function sendInOrder(execution: SendRun): Promise<void> {
  const { order, timing, controller, onResult } = execution
  const [open, endless] = [new InFlightMessages(order.size), new InFlightMessages(order.size)]
  const slots = new ConcurrencyLimit(execution.maxConcurrent)
  const dueAt = isUnpaced(timing) ? undefined : dueTimes(timing)
  const failures: unknown[] = []
  const [short, long] = [
    { open, slots, failures, execution },
    { open: endless, slots: undefined, failures, execution },
  ]
  // Thousands of messages wait for nothing: only what is still to come is awaited.
  for (let turn = 0; turn < order.size; turn++) {
    const planned = order.at(turn)
    const dependencies = order.dependenciesOf(planned)
    if (!open.areDone(dependencies)) await open.waitFor(dependencies)
    const before = waitsForServer(planned) ? await execution.ready(planned) : NO_FINDINGS
    const due = dueAt?.(planned, execution.now()) ?? 0
    if (due > 0) await waitUntilDue(due, execution)
    const room = execution.waitForReader()
    if (room !== undefined) await room
    const lane = isNeverAnswered(planned) ? long : short
    if (lane.slots?.tryTake() === false) await lane.slots.take()
    const isFree = controller.status === 'running' && execution.stop === undefined
    const left = isFree ? undefined : await skippedStep(planned, execution)
    if (left === undefined) execution.perform(planned, new InFlightStep(planned, before, lane))
    else {
      lane.slots?.release()
      onResult(left)
    }
  }
  await open.waitForAll()
  execution.release()
  await endless.waitForAll()
  controller.finish()
  if (failures.length > 0) throw failures[0]
}

/** What is told of a message that is not to be sent; undefined when it goes out. */
async function skippedStep(
  planned: PlannedMessage,
  { controller, stop, skip }: SendRun,
): Promise<ReplayStep | undefined> {
  if (!(await controller.waitUntilRunning())) return skip(planned, RUN_STOPPED)
  const decision = await stop?.(planned)
  return decision?.kind === 'skip' ? skip(planned, decision.why) : undefined
}

function waitsForServer(planned: PlannedMessage): boolean {
  return planned.heard.size > 0 || isCancellation(planned)
}

async function waitUntilDue(due: number, { now, controller }: SendRun): Promise<void> {
  while (due > now() && controller.status !== 'stopped') await sleep(Math.min(due - now(), CHECK_INTERVAL))
}

// A run that is stopped while it waits for a message of the next hour is over at once.
const CHECK_INTERVAL = 100

/** What messages have in common that are waited for in the same way. */
interface SendLane {
  readonly open: InFlightMessages
  readonly slots: ConcurrencyLimit | undefined
  readonly failures: unknown[]
  readonly execution: Pick<SendRun, 'onResult' | 'onError' | 'controller'>
}

/** A message on its way, and what follows from what becomes of it. */
class InFlightStep implements SendCallbacks {
  readonly #planned: PlannedMessage
  /** What was found wrong while it waited. */
  readonly #earlierFindings: readonly StepFinding[]
  readonly #lane: SendLane

  constructor(planned: PlannedMessage, before: readonly StepFinding[], lane: SendLane) {
    this.#planned = planned
    this.#earlierFindings = before
    this.#lane = lane
    lane.open.add(planned.index)
  }

  onResult(step: ReplayStep, sent?: SentRequest): void {
    const { execution } = this.#lane
    const earlier = this.#earlierFindings
    const whole = earlier.length === 0 ? step : { ...step, findings: [...earlier, ...step.findings] }
    execution.onResult(whole, sent)
    if (hasFailed(whole)) applyErrorPolicy(execution)
    this.#finish()
  }

  onFailure(error: unknown): void {
    const { failures, execution } = this.#lane
    failures.push(error)
    execution.controller.stop()
    this.#finish()
  }

  #finish(): void {
    const { slots, open } = this.#lane
    slots?.release()
    open.delete(this.#planned.index)
  }
}

function applyErrorPolicy({ onError, controller }: SendLane['execution']): void {
  if (onError === 'stop') controller.stop()
  if (onError === 'pause') controller.pause()
}

/** Which messages of a run are on their way, by index, and who waits for them to be over. */
class InFlightMessages {
  readonly #isOpen: Uint8Array
  #count = 0
  #wake: (() => void) | undefined

  constructor(size: number) {
    this.#isOpen = new Uint8Array(size)
  }

  add(index: number): void {
    this.#isOpen[index] = 1
    this.#count++
  }

  /** Whoever waits looks again, once for all that are over by then. */
  delete(index: number): void {
    this.#isOpen[index] = 0
    this.#count--
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  areDone(indexes: readonly number[]): boolean {
    return !indexes.some((index) => this.#isOpen[index] === 1)
  }

  async waitFor(indexes: readonly number[]): Promise<void> {
    while (!this.areDone(indexes)) await this.#next()
  }

  async waitForAll(): Promise<void> {
    while (this.#count > 0) await this.#next()
  }

  #next(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

/** So many may be at work at once. */
class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  /** Takes one that is free; false when none is. */
  tryTake(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  async take(): Promise<void> {
    if (!this.tryTake()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

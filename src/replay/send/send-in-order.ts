import { setTimeout as sleep } from 'node:timers/promises'
import type { ReplayController, StopDecision } from '../control/controller.ts'
import type { PendingEdit } from '../control/message-edit.ts'
import { isCancellation, isNeverAnswered, type PlannedMessage } from '../plan/plan.ts'
import type { Schedule } from '../plan/schedule.ts'
import { dueTimes, isUnpaced, type Timing } from '../plan/timing.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'

export interface SendInOrderOptions {
  /** How many requests may be open at once. */
  readonly maxConcurrent: number
  readonly controller: ReplayController
  /** Sends a message and resolves when its step is done. */
  readonly send: (planned: PlannedMessage, facts: SendFacts) => Promise<void>
  /** Called for a message that is not sent. */
  readonly skip: (planned: PlannedMessage, why: string) => void
  /** Waits for the messages that the server had sent before this one when it was recorded. */
  readonly waitForServer: (planned: PlannedMessage) => Promise<readonly StepFinding[]>
  /** Waits until the reader of the steps has caught up; returns `undefined` if it has. */
  readonly waitForReader: () => Promise<void> | undefined
  /** Stops waiting for requests that are never answered. */
  readonly release: () => void
  /** Milliseconds from the start of the run. */
  readonly now: () => number
}

interface SendFacts {
  /** The findings of `waitForServer`. */
  readonly earlier: readonly StepFinding[]
  /** What the user has changed. */
  readonly edit: PendingEdit | undefined
  /** True if the run waits for an answer, although none was recorded. */
  readonly isAwaited: boolean
}

/** Sends every message when those that it depends on are done and its time has come; resolves when all are done. */
export async function sendInOrder(schedule: Schedule, options: SendInOrderOptions): Promise<void> {
  const { controller, send, now } = options
  const answered = new InFlight(schedule.size, options.maxConcurrent)
  const neverAnswered = new InFlight(schedule.size, Infinity)
  const pace = new Pace(controller)
  const failures: unknown[] = []
  const launch = async (planned: PlannedMessage, facts: SendFacts, lane: InFlight): Promise<void> => {
    lane.add(planned.index)
    try {
      await send(planned, facts)
    } catch (error) {
      failures.push(error)
      controller.stop()
    }
    lane.delete(planned.index)
  }
  for (let turn = 0; turn < schedule.size; turn++) {
    const planned = schedule.at(turn)
    const dependencies = schedule.dependenciesOf(planned)
    if (!answered.areDone(dependencies)) await answered.waitFor(dependencies)
    const earlier = waitsForServer(planned) ? await options.waitForServer(planned) : NO_FINDINGS
    if (pace.isSet) await pace.waitFor(planned, now)
    const room = options.waitForReader()
    if (room !== undefined) await room
    const isUnanswered = isNeverAnswered(planned)
    const lane = isUnanswered ? neverAnswered : answered
    if (!lane.hasRoom) await lane.waitForRoom()
    const asked = controller.isInTheWay ? controller.beforeSend(planned) : GO
    const decision = asked instanceof Promise ? await asked : asked
    const isStep = schedule.isOneByOne || controller.isStepping
    const isAwaited = isUnanswered && isStep && !schedule.isLeftOpen(planned)
    if (decision.kind === 'skip') options.skip(planned, decision.why)
    else void launch(planned, { earlier, edit: decision.edit, isAwaited }, lane)
    if (isAwaited) await lane.waitFor([planned.index])
    // Messages leave in microtasks: without a wait now and then, a tape without dependencies would be read to its end first.
    if (turn % SENDS_AT_ONCE === 0) await Promise.resolve()
  }
  await answered.waitForAll()
  options.release()
  await neverAnswered.waitForAll()
  await controller.atEnd()
  controller.finish()
  if (failures.length > 0) throw failures[0]
}

const GO: StopDecision = { kind: 'go' }
const SENDS_AT_ONCE = 256

function waitsForServer(planned: PlannedMessage): boolean {
  return planned.fate.kind === 'send' && (planned.receivedBefore.size > 0 || isCancellation(planned))
}

/** Waits until messages are due. Times count from the first message, and again from the next one after the pace was changed. */
class Pace {
  readonly #controller: ReplayController
  #timing: Timing | undefined
  #dueAt: ((planned: PlannedMessage, now: number) => number) | undefined

  constructor(controller: ReplayController) {
    this.#controller = controller
  }

  /** False if messages are sent without waiting for a time. It is asked for every message. */
  get isSet(): boolean {
    const { timing } = this.#controller
    if (timing !== this.#timing) {
      this.#timing = timing
      this.#dueAt = isUnpaced(timing) ? undefined : dueTimes(timing)
    }
    return this.#dueAt !== undefined
  }

  /** Wakes up now and then, so that a run that is stopped, or gets another pace, does not wait for a message that is due in an hour. */
  async waitFor(planned: PlannedMessage, now: () => number): Promise<void> {
    const due = this.#dueAt?.(planned, now()) ?? 0
    const isCurrent = (): boolean =>
      this.#controller.status !== 'stopped' && this.#controller.timing === this.#timing
    while (due > now() && isCurrent()) await sleep(Math.min(due - now(), CHECK_INTERVAL))
  }
}

const CHECK_INTERVAL = 100

/** The messages that were sent and are not done. */
class InFlight {
  readonly #isOpen: Uint8Array
  readonly #limit: number
  #count = 0
  #wake: (() => void) | undefined

  constructor(size: number, limit: number) {
    this.#isOpen = new Uint8Array(size)
    this.#limit = limit
  }

  get hasRoom(): boolean {
    return this.#count < this.#limit
  }

  add(index: number): void {
    this.#isOpen[index] = 1
    this.#count++
  }

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
    while (!this.areDone(indexes)) await this.#nextEnd()
  }

  async waitForRoom(): Promise<void> {
    while (!this.hasRoom) await this.#nextEnd()
  }

  async waitForAll(): Promise<void> {
    while (this.#count > 0) await this.#nextEnd()
  }

  #nextEnd(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

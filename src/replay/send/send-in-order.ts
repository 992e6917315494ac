import { setTimeout as sleep } from 'node:timers/promises'
import type { ReplayController, StopDecision } from '../controller.ts'
import { isCancellation, isNeverAnswered, type PlannedMessage } from '../plan/plan.ts'
import type { Schedule } from '../plan/schedule.ts'
import { dueTimes, isUnpaced, type Timing } from '../plan/timing.ts'
import { NO_FINDINGS, type StepFinding, RUN_STOPPED } from '../steps/step.ts'

export interface SendInOrderOptions {
  readonly timing: Timing
  /** How many requests may be open at once. */
  readonly maxConcurrent: number
  readonly controller: ReplayController
  /** Sends a message and resolves when its step is done. `earlier` are the findings of `waitForServer`. */
  readonly send: (planned: PlannedMessage, earlier: readonly StepFinding[]) => Promise<void>
  /** Called for a message that is not sent. */
  readonly skip: (planned: PlannedMessage, why: string) => void
  /** Waits for the messages that the server had sent before this one when it was recorded. */
  readonly waitForServer: (planned: PlannedMessage) => Promise<readonly StepFinding[]>
  /** Waits for the user to decide about a message; `undefined` if the run is not stepped. */
  readonly stopAt: ((planned: PlannedMessage) => Promise<StopDecision>) | undefined
  /** Waits until the reader of the steps has caught up; returns `undefined` if it has. */
  readonly waitForReader: () => Promise<void> | undefined
  /** Stops waiting for requests that are never answered. */
  readonly release: () => void
  /** Milliseconds from the start of the run. */
  readonly now: () => number
}

/** Sends every message when those that it depends on are done and its time has come; resolves when all are done. */
export async function sendInOrder(schedule: Schedule, options: SendInOrderOptions): Promise<void> {
  const { timing, controller, send, now } = options
  const answered = new InFlight(schedule.size, options.maxConcurrent)
  const neverAnswered = new InFlight(schedule.size, Infinity)
  const dueAt = isUnpaced(timing) ? undefined : dueTimes(timing)
  const failures: unknown[] = []
  const launch = async (
    planned: PlannedMessage,
    earlier: readonly StepFinding[],
    lane: InFlight,
  ): Promise<void> => {
    lane.add(planned.index)
    try {
      await send(planned, earlier)
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
    const due = dueAt?.(planned, now()) ?? 0
    if (due > 0) await waitUntilDue(due, options)
    const room = options.waitForReader()
    if (room !== undefined) await room
    const lane = isNeverAnswered(planned) ? neverAnswered : answered
    if (!lane.hasRoom) await lane.waitForRoom()
    const isFree = controller.status === 'running' && options.stopAt === undefined
    const decision = isFree ? GO : await decide(planned, options)
    if (decision.kind === 'skip') options.skip(planned, decision.why)
    else void launch(planned, earlier, lane)
    // Messages leave in microtasks: without a wait now and then, a tape without dependencies would be read to its end first.
    if (turn % SENDS_AT_ONCE === 0) await Promise.resolve()
  }
  await answered.waitForAll()
  options.release()
  await neverAnswered.waitForAll()
  controller.finish()
  if (failures.length > 0) throw failures[0]
}

const GO: StopDecision = { kind: 'go' }
const SENDS_AT_ONCE = 256

async function decide(
  planned: PlannedMessage,
  { controller, stopAt }: SendInOrderOptions,
): Promise<StopDecision> {
  if (!(await controller.waitUntilRunning())) return { kind: 'skip', why: RUN_STOPPED }
  return (await stopAt?.(planned)) ?? GO
}

function waitsForServer(planned: PlannedMessage): boolean {
  return planned.fate.kind === 'send' && (planned.receivedBefore.size > 0 || isCancellation(planned))
}

/** Wakes up now and then, so that a run that is stopped does not wait for a message that is due in an hour. */
async function waitUntilDue(due: number, { now, controller }: SendInOrderOptions): Promise<void> {
  while (due > now() && controller.status !== 'stopped') await sleep(Math.min(due - now(), CHECK_INTERVAL))
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

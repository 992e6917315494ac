import { setTimeout as sleep } from 'node:timers/promises'
import type { StepOutcome } from '../as-recorded.ts'
import type { ReplayController } from '../controller.ts'
import { InFlightStep } from '../launched.ts'
import { InFlightMessages } from '../open-messages.ts'
import { dueTimes, isUnpaced, type Timing } from '../plan/timing.ts'
import type { SendCallbacks } from './message-sender.ts'
import { isNeverAnswered, type PlannedMessage } from '../plan/plan.ts'
import type { Schedule } from '../plan/schedule.ts'
import { isCancellation } from '../sent-calls.ts'
import { ConcurrencyLimit } from '../slots.ts'
import { RUN_STOPPED, type ReplayStep } from '../steps/step.ts'
import type { StopDecision } from '../stops.ts'
import { NO_FINDINGS, type StepFinding } from '../verdict/finding.ts'

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
  readonly onResult: (outcome: StepOutcome) => void
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

import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from './as-recorded.ts'
import type { Controller } from './controller.ts'
import { Launched } from './launched.ts'
import { OpenMessages } from './open-messages.ts'
import { dueTimes, isAtOnce, type Timing } from './pace.ts'
import type { Performance } from './perform.ts'
import { isOpenEnded, type Planned } from './plan.ts'
import type { Schedule } from './schedule.ts'
import { isCancellation } from './sent-calls.ts'
import { Slots } from './slots.ts'
import { WAS_STOPPED, type StepResult } from './step-result.ts'
import type { Decision } from './stops.ts'
import { NOTHING_FOUND, type Finding } from './verdict/finding.ts'

export interface Execution {
  readonly order: Schedule
  readonly timing: Timing
  readonly maxConcurrent: number
  readonly controller: Controller
  /** What to do after a step that failed; retrying is the performer's own affair. */
  readonly onError: 'continue' | 'pause' | 'stop'
  /** Waits for what the server had said of its own accord by then; gives up on what does not come. */
  readonly ready: (planned: Planned) => Promise<readonly Finding[]>
  /** Sends one message and says what became of it; never fails because of the peer. */
  readonly perform: (planned: Planned, performance: Performance) => void
  /** Everything else is over: what never gets an answer is no longer waited for. */
  readonly release: () => void
  readonly skip: (planned: Planned, why: string) => StepResult
  /** Waits for someone to say whether a message goes out; undefined when nobody is asked. */
  readonly stop: ((planned: Planned) => Promise<Decision>) | undefined
  /** Resolves when whoever looks at the results has kept up; undefined when nobody has to be waited for. */
  readonly room: () => Promise<void> | undefined
  /** Takes each result as it is known. */
  readonly onResult: (outcome: Outcome) => void
  /** Milliseconds from the start of the run. */
  readonly now: () => number
}

/** Sends every message when what it waits for is over and its time has come; resolves when all are over. */
export async function execute(execution: Execution): Promise<void> {
  const { order, timing, controller, onResult } = execution
  const [open, endless] = [new OpenMessages(order.size), new OpenMessages(order.size)]
  const slots = new Slots(execution.maxConcurrent)
  const dueAt = isAtOnce(timing) ? undefined : dueTimes(timing)
  const failures: unknown[] = []
  const [short, long] = [
    { open, slots, failures, execution },
    { open: endless, slots: undefined, failures, execution },
  ]
  // Thousands of messages wait for nothing: only what is still to come is awaited.
  for (let turn = 0; turn < order.size; turn++) {
    const planned = order.at(turn)
    const dependencies = order.dependenciesOf(planned)
    if (!open.areOver(dependencies)) await open.until(dependencies)
    const before = isAwaiting(planned) ? await execution.ready(planned) : NOTHING_FOUND
    const due = dueAt?.(planned, execution.now()) ?? 0
    if (due > 0) await untilDue(due, execution)
    const room = execution.room()
    if (room !== undefined) await room
    const lane = isOpenEnded(planned) ? long : short
    if (lane.slots?.takeFree() === false) await lane.slots.take()
    const isFree = controller.status === 'running' && execution.stop === undefined
    const left = isFree ? undefined : await leftOut(planned, execution)
    if (left === undefined) execution.perform(planned, new Launched(planned, before, lane))
    else {
      lane.slots?.give()
      onResult(left)
    }
  }
  await open.untilNone()
  execution.release()
  await endless.untilNone()
  controller.finish()
  if (failures.length > 0) throw failures[0]
}

/** What is told of a message that is not to be sent; undefined when it goes out. */
async function leftOut(
  planned: Planned,
  { controller, stop, skip }: Execution,
): Promise<StepResult | undefined> {
  if (!(await controller.mayGo())) return skip(planned, WAS_STOPPED)
  const decision = await stop?.(planned)
  return decision?.kind === 'skip' ? skip(planned, decision.why) : undefined
}

function isAwaiting(planned: Planned): boolean {
  return planned.heard.size > 0 || isCancellation(planned)
}

async function untilDue(due: number, { now, controller }: Execution): Promise<void> {
  while (due > now() && controller.status !== 'stopped') await sleep(Math.min(due - now(), LOOK_EVERY))
}

// A run that is stopped while it waits for a message of the next hour is over at once.
const LOOK_EVERY = 100

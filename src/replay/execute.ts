import { setTimeout as sleep } from 'node:timers/promises'
import { Channel } from './channel.ts'
import type { Controller } from './controller.ts'
import { dueTimes, type Timing } from './pace.ts'
import { isOpenEnded, type Planned } from './plan.ts'
import type { Scheduled } from './schedule.ts'
import { Slots } from './slots.ts'
import { WAS_STOPPED, type StepResult } from './step-result.ts'
import type { Decision } from './stops.ts'
import type { Finding } from './verdict/finding.ts'

export interface Execution {
  readonly order: readonly Scheduled[]
  readonly timing: Timing
  readonly maxConcurrent: number
  readonly controller: Controller
  /** What to do after a step that failed; retrying is the performer's own affair. */
  readonly onError: 'continue' | 'pause' | 'stop'
  /** Waits for what the server had said of its own accord by then; gives up on what does not come. */
  readonly ready: (planned: Planned) => Promise<readonly Finding[]>
  /** Sends one message and says what became of it; never rejects because of the peer. */
  readonly perform: (planned: Planned, before: readonly Finding[]) => Promise<StepResult>
  /** Everything else is over: what never gets an answer is no longer waited for. */
  readonly release: () => void
  readonly skip: (planned: Planned, why: string) => StepResult
  /** Waits for someone to say whether a message goes out; undefined when nobody is asked. */
  readonly stop: ((planned: Planned) => Promise<Decision>) | undefined
  /** Resolves when whoever looks at the results has kept up; undefined when nobody has to be waited for. */
  readonly room: () => Promise<void> | undefined
  readonly hasFailed: (result: StepResult) => boolean
  /** Milliseconds from the start of the run. */
  readonly now: () => number
}

/** Sends every message when what it waits for is over and its time has come; gives each result as it is known. */
export function execute(execution: Execution): AsyncIterable<StepResult> {
  const results = new Channel<StepResult>()
  drive(execution, results).then(
    () => results.close(),
    (error: unknown) => results.fail(error),
  )
  return results
}

async function drive(execution: Execution, results: Channel<StepResult>): Promise<void> {
  const { order, timing, controller } = execution
  const over = new Map<number, Promise<void>>()
  const endless: Promise<void>[] = []
  const slots = new Slots(execution.maxConcurrent)
  const dueAt = dueTimes(timing)
  controller.start()
  // Thousands of messages wait for nothing: only what is still to come is awaited.
  for (const { planned, dependencies } of order) {
    if (dependencies.length > 0) await Promise.all(dependencies.flatMap((index) => over.get(index) ?? []))
    const before = planned.heard.size === 0 ? NOTHING_FOUND : await execution.ready(planned)
    const due = dueAt(planned, execution.now())
    if (due > 0) await untilDue(due, execution)
    const room = execution.room()
    if (room !== undefined) await room
    if (controller.status !== 'running' && !(await controller.mayGo()))
      results.push(execution.skip(planned, WAS_STOPPED))
    else if (execution.stop !== undefined && (await isLeftOut(planned, execution, results))) continue
    else if (isOpenEnded(planned)) endless.push(launch({ planned, before }, execution, results))
    else {
      if (!slots.takeFree()) await slots.take()
      const { index } = planned
      const isOver = (): void => {
        slots.give()
        over.delete(index)
      }
      over.set(index, launch({ planned, before }, execution, results, isOver))
    }
  }
  await Promise.all(over.values())
  execution.release()
  await Promise.all(endless)
  controller.finish()
}

async function isLeftOut(
  planned: Planned,
  { stop, skip }: Execution,
  results: Channel<StepResult>,
): Promise<boolean> {
  const decision = await stop?.(planned)
  if (decision?.kind !== 'skip') return false
  results.push(skip(planned, decision.why))
  return true
}

async function launch(
  { planned, before }: { planned: Planned; before: readonly Finding[] },
  execution: Execution,
  results: Channel<StepResult>,
  onOver?: () => void,
): Promise<void> {
  try {
    const result = await execution.perform(planned, before)
    results.push(result)
    if (execution.hasFailed(result)) react(execution)
  } catch (error) {
    execution.controller.stop()
    results.fail(error)
  } finally {
    onOver?.()
  }
}

const NOTHING_FOUND: readonly Finding[] = []

function react({ onError, controller }: Execution): void {
  if (onError === 'stop') controller.stop()
  if (onError === 'pause') controller.pause()
}

async function untilDue(due: number, { now, controller }: Execution): Promise<void> {
  while (due > now() && controller.status !== 'stopped') await sleep(Math.min(due - now(), LOOK_EVERY))
}

// A run that is stopped while it waits for a message of the next hour is over at once.
const LOOK_EVERY = 100

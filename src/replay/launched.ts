import { inFull, isAsRecorded, type Outcome } from './as-recorded.ts'
import type { Execution } from './execute.ts'
import { hasFailed } from './failed.ts'
import type { OpenMessages } from './open-messages.ts'
import type { Performance } from './perform.ts'
import type { Planned } from './plan.ts'
import type { Slots } from './slots.ts'
import type { Finding } from './verdict/finding.ts'

/** What messages have in common that are waited for in the same way. */
interface Lane {
  readonly open: OpenMessages
  readonly slots: Slots | undefined
  readonly failures: unknown[]
  readonly execution: Pick<Execution, 'onResult' | 'onError' | 'controller'>
}

/** A message on its way, and what follows from what becomes of it. */
export class Launched implements Performance {
  readonly #planned: Planned
  /** What was found wrong while it waited. */
  readonly #before: readonly Finding[]
  readonly #lane: Lane

  constructor(planned: Planned, before: readonly Finding[], lane: Lane) {
    this.#planned = planned
    this.#before = before
    this.#lane = lane
    lane.open.add(planned.index)
  }

  onResult(outcome: Outcome): void {
    const { execution } = this.#lane
    const told = this.#before.length === 0 ? outcome : withFindings(this.#before, outcome, this.#planned)
    execution.onResult(told)
    if (!isAsRecorded(told) && hasFailed(told)) react(execution)
    this.#over()
  }

  onFailure(error: unknown): void {
    const { failures, execution } = this.#lane
    failures.push(error)
    execution.controller.stop()
    this.#over()
  }

  #over(): void {
    const { slots, open } = this.#lane
    slots?.give()
    open.delete(this.#planned.index)
  }
}

function withFindings(before: readonly Finding[], outcome: Outcome, planned: Planned): Outcome {
  const step = isAsRecorded(outcome) ? inFull(outcome, planned) : outcome
  return { ...step, findings: [...before, ...step.findings] }
}

function react({ onError, controller }: Lane['execution']): void {
  if (onError === 'stop') controller.stop()
  if (onError === 'pause') controller.pause()
}

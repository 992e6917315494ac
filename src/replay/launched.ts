import { expandStep, isUnchanged, type StepOutcome } from './as-recorded.ts'
import type { SendRun } from './send/send-in-order.ts'
import { hasFailed } from './failed.ts'
import type { InFlightMessages } from './open-messages.ts'
import type { SendCallbacks } from './send/message-sender.ts'
import type { PlannedMessage } from './plan/plan.ts'
import type { ConcurrencyLimit } from './slots.ts'
import type { StepFinding } from './verdict/finding.ts'

/** What messages have in common that are waited for in the same way. */
interface SendLane {
  readonly open: InFlightMessages
  readonly slots: ConcurrencyLimit | undefined
  readonly failures: unknown[]
  readonly execution: Pick<SendRun, 'onResult' | 'onError' | 'controller'>
}

/** A message on its way, and what follows from what becomes of it. */
export class InFlightStep implements SendCallbacks {
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

  onResult(outcome: StepOutcome): void {
    const { execution } = this.#lane
    const told =
      this.#earlierFindings.length === 0
        ? outcome
        : withEarlierFindings(this.#earlierFindings, outcome, this.#planned)
    execution.onResult(told)
    if (!isUnchanged(told) && hasFailed(told)) applyErrorPolicy(execution)
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

function withEarlierFindings(
  before: readonly StepFinding[],
  outcome: StepOutcome,
  planned: PlannedMessage,
): StepOutcome {
  const step = isUnchanged(outcome) ? expandStep(outcome, planned) : outcome
  return { ...step, findings: [...before, ...step.findings] }
}

function applyErrorPolicy({ onError, controller }: SendLane['execution']): void {
  if (onError === 'stop') controller.stop()
  if (onError === 'pause') controller.pause()
}

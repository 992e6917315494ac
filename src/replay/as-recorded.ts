import { findKnownId } from '../wire/edge-id.ts'
import { replaceValue } from '../json/find.ts'
import { withFreshIds } from './send/fresh-ids.ts'
import type { PlannedMessage } from './plan/plan.ts'
import type { ReplayStep } from './steps/step.ts'
import { emptyStep } from './step-results.ts'

/** A request that was sent as recorded, and answered as recorded: all else that can be said of it stands on the tape. */
export interface UnchangedStep {
  readonly kind: 'as recorded'
  readonly index: number
  /** The fresh id. */
  readonly id: number
  readonly sentAt: number
  readonly duration: number
  readonly judgedBy: readonly string[]
}

/** What became of a message, in as few words as it takes. */
export type StepOutcome = UnchangedStep | ReplayStep

export function isUnchanged(outcome: StepOutcome): outcome is UnchangedStep {
  return 'kind' in outcome
}

/** Whether a number fits where ids are kept. */
export function isCompactId(id: unknown): id is number {
  return typeof id === 'number' && id >>> 0 === id
}

/** The same in full. */
export function expandStep(
  { id, sentAt, duration, judgedBy }: UnchangedStep,
  planned: PlannedMessage,
): ReplayStep {
  const { message, text, turn } = planned
  const recorded = message.kind === 'request' ? message.id : 0
  const answer = turn.response?.text
  return {
    ...emptyStep(planned),
    sent: withFreshIds(text, recorded, id).text,
    answer: answer && withAnswerId(answer, findKnownId(answer, recorded), String(id)),
    sentAt,
    duration,
    recordedDuration: (turn.response?.t ?? 0) - (turn.trigger?.t ?? 0),
    judgedBy,
  }
}

function withAnswerId(text: string, range: ReturnType<typeof findKnownId>, id: string): string {
  if (range === undefined) return replaceValue(text, ['id'], id)
  return text.slice(0, range.start) + id + text.slice(range.end)
}

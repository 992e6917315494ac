import { edgeOf } from '../wire/edge-id.ts'
import { replaceAt } from '../wire/members.ts'
import { withFreshNames } from './outgoing.ts'
import type { Planned } from './plan.ts'
import type { StepResult } from './step-result.ts'
import { blank } from './step-results.ts'

/** A request that was sent as recorded, and answered as recorded: all else that can be said of it stands on the tape. */
export interface AsRecorded {
  readonly kind: 'as recorded'
  readonly index: number
  /** The fresh id. */
  readonly id: number
  readonly sentAt: number
  readonly duration: number
  readonly judgedBy: readonly string[]
}

/** What became of a message, in as few words as it takes. */
export type Outcome = AsRecorded | StepResult

export function isAsRecorded(outcome: Outcome): outcome is AsRecorded {
  return 'kind' in outcome
}

/** Whether a number fits where ids are kept. */
export function isPlainId(id: unknown): id is number {
  return typeof id === 'number' && id >>> 0 === id
}

/** The same in full. */
export function inFull({ id, sentAt, duration, judgedBy }: AsRecorded, planned: Planned): StepResult {
  const { message, text, turn } = planned
  const recorded = message.kind === 'request' ? message.id : 0
  const answer = turn.response?.text
  return {
    ...blank(planned),
    sent: withFreshNames(text, recorded, id).text,
    answer: answer && withId(answer, edgeOf(answer, recorded), String(id)),
    sentAt,
    duration,
    recordedDuration: (turn.response?.t ?? 0) - (turn.trigger?.t ?? 0),
    judgedBy,
  }
}

function withId(text: string, range: ReturnType<typeof edgeOf>, id: string): string {
  if (range === undefined) return replaceAt(text, ['id'], id)
  return text.slice(0, range.start) + id + text.slice(range.end)
}

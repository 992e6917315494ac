import { acceptable } from './accepted.ts'
import { isPlainId, type Outcome } from './as-recorded.ts'
import type { Carrier } from './carrier.ts'
import type { Planned } from './plan.ts'
import { answered, type Heard } from './step-results.ts'
import type { Judgement } from './verdict/judge.ts'
import { judgedOf, type Judged } from './verdict/judged.ts'

/** A request that was sent, what came of it, and what it took. */
export interface AnsweredStep {
  readonly planned: Planned
  readonly heard: Heard
  readonly retries: number
  readonly transformedBy: readonly string[]
}

export interface StepJudging {
  readonly judge: (judged: Judged) => Judgement
  readonly carrier: Carrier
}

/** Holds an answer against the recorded one. Of one that is as it was no more is kept than the tape does not know. */
export function judgedStep(step: AnsweredStep, { judge, carrier }: StepJudging): Outcome {
  const { planned, heard, retries, transformedBy } = step
  const { turn, tool, index } = planned
  const { end, asides, moved, id, sentAt, endedAt } = heard
  const duration = endedAt === undefined ? undefined : endedAt - sentAt
  const judged = judgedOf({ turn, tool, end, asides, moved, duration })
  const { findings, judgedBy } = judge(judged)
  const isPlain = findings.length + retries + transformedBy.length === 0 && isUntouched(planned, heard)
  if (isPlain && duration !== undefined && isPlainId(id))
    return { kind: 'as recorded', index, id, sentAt, duration, judgedBy }
  const result = answered(planned, heard, { findings, judgedBy, transformedBy, retries, judged })
  if (end.kind !== 'answered' || result.findings.length === 0) return result
  const accept = acceptable(turn, end.text, carrier)
  return accept === undefined ? result : { ...result, acceptable: accept }
}

/** Whether nothing but names is another than on the tape, on the way there and back. */
function isUntouched({ text }: Planned, { end, bound }: Heard): boolean {
  return end.kind === 'answered' && end.asRecorded && bound === text
}

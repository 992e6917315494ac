import { acceptedAnswer } from './steps/accepted-answer.ts'
import { isCompactId, type StepOutcome } from './as-recorded.ts'
import type { CarriedValues } from './values/carried-values.ts'
import type { PlannedMessage } from './plan/plan.ts'
import { answeredStep, type RequestOutcome } from './step-results.ts'
import type { StepJudgement } from './judge/judge.ts'
import { toJudgedAnswer, type JudgedAnswer } from './judge/judged-answer.ts'

/** A request that was sent, what came of it, and what it took. */
export interface AnsweredMessage {
  readonly planned: PlannedMessage
  readonly heard: RequestOutcome
  readonly retries: number
  readonly transformedBy: readonly string[]
}

export interface StepJudgeOptions {
  readonly judge: (judged: JudgedAnswer) => StepJudgement
  readonly carrier: CarriedValues
}

/** Holds an answer against the recorded one. Of one that is as it was no more is kept than the tape does not know. */
export function judgeStep(step: AnsweredMessage, { judge, carrier }: StepJudgeOptions): StepOutcome {
  const { planned, heard, retries, transformedBy } = step
  const { turn, tool, index } = planned
  const { end, asides, moved, id, sentAt, endedAt } = heard
  const duration = endedAt === undefined ? undefined : endedAt - sentAt
  const judged = toJudgedAnswer({ turn, tool, end, asides, moved, duration })
  const { findings, judgedBy } = judge(judged)
  const isPlain = findings.length + retries + transformedBy.length === 0 && matchesTape(planned, heard)
  if (isPlain && duration !== undefined && isCompactId(id))
    return { kind: 'as recorded', index, id, sentAt, duration, judgedBy }
  const result = answeredStep(planned, heard, { findings, judgedBy, transformedBy, retries, judged })
  if (end.kind !== 'answered' || result.findings.length === 0) return result
  const accept = acceptedAnswer(turn, end.text, carrier)
  return accept === undefined ? result : { ...result, acceptable: accept }
}

/** Whether nothing but names is another than on the tape, on the way there and back. */
function matchesTape({ text }: PlannedMessage, { end, bound }: RequestOutcome): boolean {
  return end.kind === 'answered' && end.asRecorded && bound === text
}

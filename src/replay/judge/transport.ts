import type { Judge, JudgedAnswer } from './judge.ts'
import type { StepFinding } from '../steps/step.ts'

/** Checks that there is an answer where one was recorded. */
export const transportJudge: Judge = { isFinal: true, judge: judgeTransport }

function judgeTransport({ end, live, recorded }: JudgedAnswer): readonly StepFinding[] {
  if (end.kind === 'answered')
    return live === undefined
      ? [{ layer: 'transport', level: 'error', message: 'the answer is not a JSON-RPC response' }]
      : []
  if (end.kind === 'open' || end.kind === 'given-up' || recorded === undefined) return []
  const message =
    end.kind === 'timeout' ? `no answer came within ${end.after} ms` : `the answer was lost: ${end.why}`
  return [{ layer: 'transport', level: 'error', message, expected: 'an answer' }]
}

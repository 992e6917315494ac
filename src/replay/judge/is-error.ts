import { truncateAtWord } from '../../text.ts'
import { type Judge, type JudgedAnswer, resultOfResponse } from './judge.ts'
import type { StepFinding } from '../steps/step.ts'
import { member } from '../../json/parse.ts'

/** Checks that a tool that worked still works, and that one that failed still fails. */
export const isErrorJudge: Judge = { isFinal: true, judge: judgeIsError }

function judgeIsError({ live, recorded }: JudgedAnswer): readonly StepFinding[] {
  const [before, now] = [resultOfResponse(recorded), resultOfResponse(live)]
  if (before === undefined || now === undefined) return []
  const [expected, actual] = [failed(before), failed(now)]
  if (expected === actual) return []
  const message = actual
    ? `the tool failed: ${firstText(now)}`
    : 'the tool succeeded, but it failed when it was recorded'
  return [{ layer: 'is-error', level: 'error', message, path: 'result.isError', expected, actual }]
}

function failed(result: unknown): boolean {
  return member(result, 'isError') === true
}

function firstText(result: unknown): string {
  const content = member(result, 'content')
  const text = Array.isArray(content) ? member(content[0], 'text') : undefined
  return typeof text === 'string' ? truncateAtWord(text, 200) : 'it gave no reason'
}

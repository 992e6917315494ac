import { member } from '../../protocol/message.ts'
import { type StepFinding, errorOfResponse, type JudgedAnswer } from './judged-answer.ts'

/** Whether a result came where a result had come, and an error of the same code where an error had. */
export function judgeJsonRpc({ live, recorded }: JudgedAnswer): readonly StepFinding[] {
  if (live === undefined || recorded === undefined) return []
  const [expected, actual] = [errorOfResponse(recorded), errorOfResponse(live)]
  if (expected === undefined && actual === undefined) return []
  if (member(expected, 'code') === member(actual, 'code') && expected !== undefined) return []
  const message = `answered with ${inWords(actual)}, recorded ${inWords(expected)}`
  return [{ layer: 'json-rpc', level: 'error', message, path: 'error', expected, actual }]
}

function inWords(error: unknown): string {
  if (error === undefined) return 'a result'
  return `the error ${String(member(error, 'code'))} ${JSON.stringify(member(error, 'message') ?? '')}`
}

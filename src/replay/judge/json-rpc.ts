import { errorOfResponse, type Judge, type JudgedAnswer } from './judge.ts'
import type { StepFinding } from '../steps/step.ts'
import { member } from '../../json/parse.ts'
import { truncateAtWord } from '../../text.ts'

/** Checks that a result is still a result, and that an error has the recorded code. */
export const jsonRpcJudge: Judge = { isFinal: true, judge: judgeJsonRpc }

function judgeJsonRpc({ live, recorded }: JudgedAnswer): readonly StepFinding[] {
  if (live === undefined || recorded === undefined) return []
  const [expected, actual] = [errorOfResponse(recorded), errorOfResponse(live)]
  if (expected === undefined && actual === undefined) return []
  if (member(expected, 'code') === member(actual, 'code') && expected !== undefined) return []
  const message = `answered with ${inWords(actual)}, recorded ${inWords(expected)}`
  return [{ layer: 'json-rpc', level: 'error', message, path: 'error', expected, actual }]
}

function inWords(error: unknown): string {
  if (error === undefined) return 'a result'
  const message = member(error, 'message') ?? ''
  const shown = typeof message === 'string' ? truncateAtWord(message, LONGEST_MESSAGE) : message
  return `the error ${String(member(error, 'code'))} ${JSON.stringify(shown)}`
}

/** Some servers put a whole validation report into the message. */
const LONGEST_MESSAGE = 200

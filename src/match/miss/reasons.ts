import { describeRequest } from '../describe-request.ts'
import {
  comparableMiss,
  incomparableMiss,
  type MissContext,
  type MissDiagnosis,
  type MissOutcome,
} from '../finding.ts'
import type { RequestContent } from '../request-key.ts'
import type { RequestUsage } from '../matcher.ts'
import { rankByDistance } from './nearest.ts'
import { findOnOtherServer } from '../other-server.ts'
import { diagnoseUnknown } from '../unknown-reason.ts'

/** Names the reason class of a miss, and the recorded requests that can fairly be compared with it. */
export function diagnoseMiss(
  asked: RequestContent,
  outcome: MissOutcome,
  context: MissContext,
): MissDiagnosis {
  if (outcome.kind === 'exhausted') return diagnoseExhausted(asked, outcome.entry, context)
  if (outcome.kind === 'out-of-order') return diagnoseOutOfOrder(asked, outcome.entry, context)
  if (outcome.kind === 'unanswered') return diagnoseUnanswered(outcome.entry)
  return diagnoseWrongServer(asked, context) ?? diagnoseUnknown(asked, context)
}

function diagnoseExhausted(asked: RequestContent, entry: RequestUsage, context: MissContext): MissDiagnosis {
  const more =
    entry.unanswered.length === 0 ? '' : `; ${entry.unanswered.length} more on the tape were never answered`
  const why = `already used ${entry.used} of ${entry.answers} times${more}`
  return comparableMiss('EXHAUSTED', why, rankByDistance(asked, [entry], context))
}

function diagnoseOutOfOrder(asked: RequestContent, entry: RequestUsage, context: MissContext): MissDiagnosis {
  const next = context.index.next()
  const first =
    next === undefined ? 'nothing is due' : `the tape has #${next.frame} ${describeRequest(next)} first`
  return comparableMiss(
    'OUT_OF_ORDER',
    `recorded as #${entry.frame}, but ${first}`,
    rankByDistance(asked, [entry], context),
  )
}

function diagnoseWrongServer(asked: RequestContent, context: MissContext): MissDiagnosis | undefined {
  const onOtherServer = findOnOtherServer(asked, context)
  if (onOtherServer === undefined) return undefined
  const why = `this very request was recorded as #${onOtherServer.frame}, sent to the server "${onOtherServer.server}"`
  return { ...incomparableMiss('WRONG_SERVER', why), onOtherServer }
}

function diagnoseUnanswered({ unanswered: frames, cut = [] }: RequestUsage): MissDiagnosis {
  const places = frames.map((frame) => `#${frame}`).join(', ')
  if (cut.length > 0)
    return incomparableMiss(
      'UNANSWERED',
      `the tape holds this request (${places}), and of its answer only the beginning: record it without --cut`,
    )
  return incomparableMiss(
    'UNANSWERED',
    `the tape holds this request (${places}) without an answer: the recording ended first, or none came`,
  )
}

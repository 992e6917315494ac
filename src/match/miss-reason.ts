import { briefRequest } from './brief.ts'
import { compared, incomparable, type Context, type Finding, type NoHit } from './finding.ts'
import type { Asked } from './key.ts'
import type { Entry } from './matcher.ts'
import { rankByDistance } from './nearest.ts'
import { sentElsewhere } from './other-server.ts'
import { whyUnknown } from './unknown-reason.ts'

/** Names the reason class of a miss, and the recorded requests that can fairly be compared with it. */
export function findReason(asked: Asked, outcome: NoHit, context: Context): Finding {
  if (outcome.kind === 'exhausted') return exhausted(asked, outcome.entry, context)
  if (outcome.kind === 'out-of-order') return outOfOrder(asked, outcome.entry, context)
  if (outcome.kind === 'unanswered') return unanswered(outcome.entry)
  return wrongServer(asked, context) ?? whyUnknown(asked, context)
}

function exhausted(asked: Asked, entry: Entry, context: Context): Finding {
  const more =
    entry.unanswered.length === 0 ? '' : `; ${entry.unanswered.length} more on the tape were never answered`
  const why = `already used ${entry.used} of ${entry.answers} times${more}`
  return compared('EXHAUSTED', why, rankByDistance(asked, [entry], context))
}

function outOfOrder(asked: Asked, entry: Entry, context: Context): Finding {
  const next = context.index.next()
  const first =
    next === undefined ? 'nothing is due' : `the tape has #${next.frame} ${briefRequest(next)} first`
  return compared(
    'OUT_OF_ORDER',
    `recorded as #${entry.frame}, but ${first}`,
    rankByDistance(asked, [entry], context),
  )
}

function wrongServer(asked: Asked, context: Context): Finding | undefined {
  const elsewhere = sentElsewhere(asked, context)
  if (elsewhere === undefined) return undefined
  const why = `this very request was recorded as #${elsewhere.frame}, sent to the server "${elsewhere.server}"`
  return { ...incomparable('WRONG_SERVER', why), elsewhere }
}

function unanswered({ unanswered: frames, cut = [] }: Entry): Finding {
  const places = frames.map((frame) => `#${frame}`).join(', ')
  if (cut.length > 0)
    return incomparable(
      'UNANSWERED',
      `the tape holds this request (${places}), and of its answer only the beginning: record it without --cut`,
    )
  return incomparable(
    'UNANSWERED',
    `the tape holds this request (${places}) without an answer: the recording ended first, or none came`,
  )
}

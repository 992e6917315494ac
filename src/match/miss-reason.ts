import { member } from '../wire/message.ts'
import { briefRequest, toolOf } from './brief.ts'
import { eraAsked, type Asked } from './key.ts'
import { rankByDistance, type Candidate } from './nearest.ts'
import type { Entry, MatchOutcome, RecordingIndex } from './recording-index.ts'

/** Why a live request has no recorded answer. */
export type MissReason =
  | 'UNKNOWN_TOOL'
  | 'UNKNOWN_METHOD'
  | 'ARGUMENT_DRIFT'
  | 'EXHAUSTED'
  | 'UNANSWERED'
  | 'ERA_MISMATCH'
  | 'EMPTY_TAPE'

export interface Finding {
  readonly reason: MissReason
  readonly why: string
  readonly nearest: readonly Candidate[]
}

export type NoHit = Exclude<MatchOutcome, { kind: 'hit' }>

/** Names the reason class of a miss, and the recorded requests that can fairly be compared with it. */
export function findReason(asked: Asked, outcome: NoHit, index: RecordingIndex): Finding {
  if (outcome.kind === 'exhausted') return exhausted(asked, outcome.entry, index)
  if (outcome.kind === 'unanswered') return unanswered(outcome.entry)
  const entries = index.entries().filter(({ request }) => request.server === asked.server)
  if (entries.length === 0) return incomparable('EMPTY_TAPE', 'the tape holds no request')
  const ofMethod = entries.filter(({ request }) => request.method === asked.method)
  if (isOfOtherEra(asked, ofMethod.length > 0 ? ofMethod : entries)) return eraMismatch(asked)
  if (ofMethod.length === 0) return unknownMethod(asked, entries)
  return ofKnownMethod(
    asked,
    ofMethod.filter(({ request }) => eraAsked(request) === eraAsked(asked)),
    index,
  )
}

function exhausted(asked: Asked, entry: Entry, index: RecordingIndex): Finding {
  const more =
    entry.unanswered.length === 0 ? '' : `; ${entry.unanswered.length} more on the tape were never answered`
  const why = `already used ${entry.used} of ${entry.turns.length} times${more}`
  return { reason: 'EXHAUSTED', why, nearest: rankByDistance(asked, [entry], index.ignore) }
}

function unanswered({ unanswered: frames, cut }: Entry): Finding {
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

function isOfOtherEra(asked: Asked, entries: readonly Entry[]): boolean {
  const era = eraAsked(asked)
  const recorded = new Set(entries.map(({ request }) => eraAsked(request)))
  recorded.delete(undefined)
  return era !== undefined && recorded.size > 0 && !recorded.has(era)
}

function eraMismatch(asked: Asked): Finding {
  const why =
    eraAsked(asked) === 'modern'
      ? 'a modern request (it names its protocol version in _meta); the tape holds only legacy ones'
      : 'a legacy request (it names no protocol version in _meta); the tape holds only modern ones'
  return incomparable('ERA_MISMATCH', why)
}

function unknownMethod(asked: Asked, entries: readonly Entry[]): Finding {
  const methods = entries.map(({ request }) => request.method)
  return incomparable('UNKNOWN_METHOD', `no ${asked.method} was recorded; ${listed('methods', methods)}`)
}

function ofKnownMethod(asked: Asked, entries: readonly Entry[], index: RecordingIndex): Finding {
  const ofName = entries.filter(({ request }) => nameOf(request) === nameOf(asked))
  if (ofName.length === 0) return unknownName(asked, entries)
  const nearest = rankByDistance(asked, ofName, index.ignore)
  return { reason: 'ARGUMENT_DRIFT', why: `same ${kindOf(asked)}, ${countOf(nearest)}`, nearest }
}

function unknownName(asked: Asked, entries: readonly Entry[]): Finding {
  const names = entries.map(({ request }) => String(nameOf(request)))
  const known = listed(`${kindOf(asked)}s`, names)
  const tool = toolOf(asked)
  if (tool === undefined)
    return incomparable('ARGUMENT_DRIFT', `no ${briefRequest(asked)} was recorded; ${known}`)
  return incomparable('UNKNOWN_TOOL', `no call of "${tool}" was recorded; ${known}`)
}

// Two tools, or two prompts, have nothing to compare: to ignore the name would serve one for the other.
function nameOf({ method, params }: Asked): unknown {
  return method === 'tools/call' || method === 'prompts/get' ? member(params, 'name') : undefined
}

function kindOf({ method }: Asked): string {
  if (method === 'tools/call') return 'tool'
  return method === 'prompts/get' ? 'prompt' : 'method'
}

function countOf([top]: readonly Candidate[]): string {
  const differing = top?.differences.length ?? 0
  return `${differing} of ${top?.fields ?? 0} fields ${differing === 1 ? 'differs' : 'differ'}`
}

const LISTED = 8

function listed(kind: string, names: readonly string[]): string {
  const known = [...new Set(names)]
  const more = known.length > LISTED ? ` and ${known.length - LISTED} more` : ''
  return `recorded ${kind}: ${known.slice(0, LISTED).join(', ')}${more}`
}

function incomparable(reason: MissReason, why: string): Finding {
  return { reason, why, nearest: [] }
}

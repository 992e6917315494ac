import { formatPath } from '../wire/path.ts'
import { annotationsOf, type Annotation } from './annotations.ts'
import { brief, briefRequest, toolOf } from './brief.ts'
import type { Evidence } from './evidence.ts'
import { eraAsked, type Asked } from './key.ts'
import type { Entry, Matcher, MatchOutcome, RecordedRequest } from './matcher.ts'
import type { Matching } from './matching.ts'
import { nameOf } from './name.ts'
import { rankByDistance, type Candidate } from './nearest.ts'
import { sentElsewhere } from './other-server.ts'

/** Why a live request has no recorded answer. */
export type MissReason =
  | 'UNKNOWN_TOOL'
  | 'UNKNOWN_METHOD'
  | 'ARGUMENT_DRIFT'
  | 'EXHAUSTED'
  | 'OUT_OF_ORDER'
  | 'UNBOUND_HANDLE'
  | 'UNANSWERED'
  | 'ERA_MISMATCH'
  | 'WRONG_SERVER'
  | 'EMPTY_TAPE'

export interface Finding {
  readonly reason: MissReason
  readonly why: string
  /** Recorded requests that can fairly be compared with this one, nearest first. */
  readonly nearest: readonly Candidate[]
  /** What is known of the values of the nearest one. */
  readonly annotations: readonly Annotation[]
  /** The same request, sent to another server. */
  readonly elsewhere?: RecordedRequest
}

export type NoHit = Exclude<MatchOutcome, { kind: 'hit' }>

export interface Context {
  readonly index: Matcher
  readonly matching: Matching
  readonly evidence: Evidence
}

/** Names the reason class of a miss, and the recorded requests that can fairly be compared with it. */
export function findReason(asked: Asked, outcome: NoHit, context: Context): Finding {
  if (outcome.kind === 'exhausted') return exhausted(asked, outcome.entry, context)
  if (outcome.kind === 'out-of-order') return outOfOrder(asked, outcome.entry, context)
  if (outcome.kind === 'unanswered') return unanswered(outcome.entry)
  return wrongServer(asked, context) ?? unknown(asked, context)
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

function wrongServer(asked: Asked, { evidence, matching }: Context): Finding | undefined {
  const elsewhere = sentElsewhere(asked, evidence.turns, matching)
  if (elsewhere === undefined) return undefined
  const why = `this very request was recorded as #${elsewhere.frame}, sent to the server "${elsewhere.server}"`
  return { ...incomparable('WRONG_SERVER', why), elsewhere }
}

function unknown(asked: Asked, context: Context): Finding {
  const entries = context.index.entries().filter(({ request }) => request.server === asked.server)
  if (entries.length === 0) return incomparable('EMPTY_TAPE', 'the tape holds no request')
  const ofMethod = entries.filter(({ request }) => request.method === asked.method)
  if (isOfOtherEra(asked, ofMethod.length > 0 ? ofMethod : entries)) return eraMismatch(asked)
  if (ofMethod.length === 0) return unknownMethod(asked, entries)
  return ofKnownMethod(
    asked,
    ofMethod.filter(({ request }) => eraAsked(request) === eraAsked(asked)),
    context,
  )
}

function unanswered({ unanswered: frames }: Entry): Finding {
  const places = frames.map((frame) => `#${frame}`).join(', ')
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

function ofKnownMethod(asked: Asked, entries: readonly Entry[], context: Context): Finding {
  const ofName = entries.filter(({ request }) => nameOf(request) === nameOf(asked))
  if (ofName.length === 0) return unknownName(asked, entries)
  const nearest = rankByDistance(asked, ofName, context)
  const [top] = nearest
  const annotations = top === undefined ? [] : annotationsOf(top, context)
  const drift = compared('ARGUMENT_DRIFT', `same ${kindOf(asked)}, ${countOf(nearest)}`, nearest)
  return { ...(unboundHandle(top, annotations) ?? drift), nearest, annotations }
}

/** When all that differs are values that the recorded server made up, the client has them from somewhere else. */
function unboundHandle(top: Candidate | undefined, annotations: readonly Annotation[]): Finding | undefined {
  const handles = (top?.differences ?? []).map(({ path, recorded }) => {
    const boundTo = annotations.find((found) => found.path === formatPath(path))?.boundTo
    return (
      boundTo && `${formatPath(path)} was ${brief(recorded, 40)}, which the server gave in #${boundTo.frame}`
    )
  })
  if (handles.length === 0 || handles.includes(undefined)) return undefined
  return incomparable('UNBOUND_HANDLE', `${handles.join('; ')}; the client sent what this tape never gave it`)
}

function unknownName(asked: Asked, entries: readonly Entry[]): Finding {
  const names = entries.map(({ request }) => String(nameOf(request)))
  const known = listed(`${kindOf(asked)}s`, names)
  const tool = toolOf(asked)
  if (tool === undefined)
    return incomparable('ARGUMENT_DRIFT', `no ${briefRequest(asked)} was recorded; ${known}`)
  return incomparable('UNKNOWN_TOOL', `no call of "${tool}" was recorded; ${known}`)
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

function compared(reason: MissReason, why: string, nearest: readonly Candidate[]): Finding {
  return { reason, why, nearest, annotations: [] }
}

function incomparable(reason: MissReason, why: string): Finding {
  return compared(reason, why, [])
}

import { formatPath } from '../../json/path.ts'
import { describeRequest, describeValue } from '../describe-request.ts'
import { type RequestUsage, type Matcher, type MatchOutcome } from '../matcher.ts'
import { isSameKind, type RequestKind } from '../request-index.ts'
import { type RecordedRequest } from '../request-groups.ts'
import {
  annotateValues,
  type ValueAnnotation,
  rankByDistance,
  type NearestRequest,
  type TapeLookup,
} from './nearest.ts'
import type { RequestComparer } from '../request-comparer.ts'
import { requestEra, isConnectionMethod, requestKey } from '../request-key.ts'
import { type ClientCall, clientCallOf } from '../../tape/turns.ts'
import { calledTool, toolOrPromptName } from '../../protocol/message.ts'
import type { Era } from '../../protocol/revisions/revision.ts'

/** Names the reason class of a miss, and the recorded requests that can fairly be compared with it. */
export function diagnoseMiss(asked: ClientCall, outcome: MissOutcome, context: MissContext): MissDiagnosis {
  if (outcome.kind === 'exhausted') return diagnoseExhausted(asked, outcome.entry, context)
  if (outcome.kind === 'out-of-order') return diagnoseOutOfOrder(asked, outcome.entry, context)
  if (outcome.kind === 'unanswered') return diagnoseUnanswered(outcome.entry)
  return diagnoseWrongServer(asked, context) ?? diagnoseUnknown(asked, context)
}

function diagnoseExhausted(asked: ClientCall, entry: RequestUsage, context: MissContext): MissDiagnosis {
  const more =
    entry.unanswered.length === 0 ? '' : `; ${entry.unanswered.length} more on the tape were never answered`
  const why = `already used ${entry.used} of ${entry.answers} times${more}`
  return comparableMiss('EXHAUSTED', why, rankByDistance(asked, [entry], context))
}

function diagnoseOutOfOrder(asked: ClientCall, entry: RequestUsage, context: MissContext): MissDiagnosis {
  const next = context.index.next()
  const first =
    next === undefined ? 'nothing is due' : `the tape has #${next.frame} ${describeRequest(next)} first`
  return comparableMiss(
    'OUT_OF_ORDER',
    `recorded as #${entry.frame}, but ${first}`,
    rankByDistance(asked, [entry], context),
  )
}

function diagnoseWrongServer(asked: ClientCall, context: MissContext): MissDiagnosis | undefined {
  const onOtherServer = findOnOtherServer(asked, context)
  if (onOtherServer === undefined) return undefined
  const why = `this very request was recorded as #${onOtherServer.frame}, sent to the server "${onOtherServer.server}"`
  return { ...incomparableMiss('WRONG_SERVER', why), onOtherServer }
}

function diagnoseUnanswered({ unanswered: frames, cut }: RequestUsage): MissDiagnosis {
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

/** Why a request is not on the tape, and what came nearest to it. */
function diagnoseUnknown(asked: ClientCall, context: MissContext): MissDiagnosis {
  const kinds = context.index.kinds().filter(({ server }) => server === asked.server)
  if (kinds.length === 0) return incomparableMiss('EMPTY_TAPE', 'the tape holds no request')
  const ofMethod = kinds.filter(({ method }) => method === asked.method)
  const era = requestEra(asked)
  if (era !== undefined && hasOnlyOtherEras(era, ofMethod.length > 0 ? ofMethod : kinds))
    return incomparableMiss('ERA_MISMATCH', ERA_MISMATCH_TEXT[era])
  if (ofMethod.length === 0) return unknownMethod(asked, kinds)
  return diagnoseKnownMethod(
    asked,
    ofMethod.filter((kind) => kind.era === era),
    context,
  )
}

function hasOnlyOtherEras(era: Era, kinds: readonly RequestKind[]): boolean {
  const recorded = new Set(kinds.map((kind) => kind.era))
  recorded.delete(undefined)
  return recorded.size > 0 && !recorded.has(era)
}

const ERA_MISMATCH_TEXT: Readonly<Record<Era, string>> = {
  modern: 'a modern request (it names its protocol version in _meta); the tape holds only legacy ones',
  legacy: 'a legacy request (it names no protocol version in _meta); the tape holds only modern ones',
}

function unknownMethod(asked: ClientCall, kinds: readonly RequestKind[]): MissDiagnosis {
  const methods = kinds.map(({ method }) => method)
  return incomparableMiss(
    'UNKNOWN_METHOD',
    `no ${asked.method} was recorded; ${listNames('methods', methods)}`,
  )
}

function diagnoseKnownMethod(
  asked: ClientCall,
  kinds: readonly RequestKind[],
  context: MissContext,
): MissDiagnosis {
  const ofName = kinds.filter(({ name }) => name === toolOrPromptName(asked))
  if (ofName.length === 0) return unknownName(asked, kinds)
  const nearest = rankByDistance(
    asked,
    context.index.entries({ accepts: (kind) => ofName.some((one) => isSameKind(one, kind)), like: asked }),
    context,
  )
  const [top] = nearest
  const annotations = top === undefined ? [] : annotateValues(top, context)
  const drift = comparableMiss(
    'ARGUMENT_DRIFT',
    `same ${requestNoun(asked)}, ${describeDifferenceCount(nearest)}`,
    nearest,
  )
  return { ...(unboundHandle(top, annotations) ?? drift), nearest, annotations }
}

/** When all that differs are values that the recorded server made up, the client has them from somewhere else. */
function unboundHandle(
  top: NearestRequest | undefined,
  annotations: readonly ValueAnnotation[],
): MissDiagnosis | undefined {
  const handles = (top?.differences ?? []).map(({ path, recorded }) => {
    const boundTo = annotations.find((found) => found.path === formatPath(path))?.boundTo
    return (
      boundTo &&
      `${formatPath(path)} was ${describeValue(recorded, 40)}, which the server gave in #${boundTo.frame}`
    )
  })
  if (handles.length === 0 || handles.includes(undefined)) return undefined
  return incomparableMiss(
    'UNBOUND_HANDLE',
    `${handles.join('; ')}; the client sent what this tape never gave it`,
  )
}

function unknownName(asked: ClientCall, kinds: readonly RequestKind[]): MissDiagnosis {
  const names = kinds.map(({ name }) => String(name))
  const known = listNames(`${requestNoun(asked)}s`, names)
  if (toolOrPromptName(asked) === undefined)
    return incomparableMiss('ARGUMENT_DRIFT', `it names no ${requestNoun(asked)}; ${known}`)
  const tool = calledTool(asked)
  if (tool === undefined)
    return incomparableMiss('ARGUMENT_DRIFT', `no ${describeRequest(asked)} was recorded; ${known}`)
  return incomparableMiss('UNKNOWN_TOOL', `no call of "${tool}" was recorded; ${known}`)
}

function requestNoun({ method }: ClientCall): string {
  if (method === 'tools/call') return 'tool'
  return method === 'prompts/get' ? 'prompt' : 'method'
}

function describeDifferenceCount([top]: readonly NearestRequest[]): string {
  const differing = top?.differences.length ?? 0
  return `${differing} of ${top?.fields ?? 0} fields ${differing === 1 ? 'differs' : 'differ'}`
}

const MOST_LISTED = 8

function listNames(kind: string, names: readonly string[]): string {
  const known = [...new Set(names)]
  const more = known.length > MOST_LISTED ? ` and ${known.length - MOST_LISTED} more` : ''
  return `recorded ${kind}: ${known.slice(0, MOST_LISTED).join(', ')}${more}`
}

/** The same request, as it was sent to another server of the tape. */
function findOnOtherServer(
  asked: ClientCall,
  { evidence, matching }: { evidence: TapeLookup; matching: RequestComparer },
): RecordedRequest | undefined {
  const { turns } = evidence
  if (!evidence.hasOtherServer(asked.server)) return undefined
  // Every server is asked for its tools: only params tell whom a request was meant for.
  if (isConnectionMethod(asked.method) || matching.strategy.paramsOf(asked, []) === undefined)
    return undefined
  const key = matching.keyOf(asked)
  for (const place of placesToSearch(asked, evidence, key === requestKey(asked))) {
    const { trigger, server, method, frame, answered } = turns.summary(place)
    if (trigger !== 'request' || server === asked.server || method !== asked.method || !answered) continue
    const called = clientCallOf(turns.trigger(place))
    if (called !== undefined && matching.keyOf({ ...called, server: asked.server }) === key)
      return { frame, ...called }
  }
  return undefined
}

/** Where requests are told apart by their keys, the index knows; else every one has to be looked at. */
function placesToSearch(asked: ClientCall, { turns }: TapeLookup, isByKey: boolean): Iterable<number> {
  if (!isByKey) return Array(turns.size).keys()
  const keyed = turns.keyedBy(requestKey)
  const places: number[] = []
  for (const server of new Set(turns.kinds().map((kind) => kind.server))) {
    const first = keyed.first(requestKey({ ...asked, server }))
    for (let place = first; place >= 0; place = keyed.next(place)) places.push(place)
  }
  return places.toSorted((a, b) => a - b)
}

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
  | 'REDACTION_MISMATCH'
  | 'ANSWER_DRIFT'
  | 'WRONG_SERVER'
  | 'EMPTY_TAPE'

export interface MissDiagnosis {
  readonly reason: MissReason
  readonly why: string
  /** Recorded requests that can fairly be compared with this one, nearest first. */
  readonly nearest: readonly NearestRequest[]
  /** What is known of the values of the nearest one. */
  readonly annotations: readonly ValueAnnotation[]
  /** The same request, sent to another server. */
  readonly onOtherServer?: RecordedRequest
}

export type MissOutcome = Exclude<MatchOutcome, { kind: 'hit' }>

export interface MissContext {
  readonly index: Pick<Matcher, 'next' | 'permissive' | 'kinds' | 'entries'>
  readonly matching: RequestComparer
  readonly evidence: TapeLookup
}

/** A finding with requests to compare with. */
function comparableMiss(reason: MissReason, why: string, nearest: readonly NearestRequest[]): MissDiagnosis {
  return { reason, why, nearest, annotations: [] }
}

/** A finding where nothing can fairly be compared: no difference is shown that would only mislead. */
function incomparableMiss(reason: MissReason, why: string): MissDiagnosis {
  return comparableMiss(reason, why, [])
}

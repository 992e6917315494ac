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
  type RankingContext,
  type TapeLookup,
} from './nearest.ts'
import { requestEra, isConnectionMethod, requestKey } from '../request-key.ts'
import { exchangeLabel, type ClientCall, clientCallOf } from '../../tape/turns.ts'
import { calledTool, toolOrPromptName } from '../../protocol/message.ts'
import type { Era } from '../../protocol/revisions/revision.ts'

/** Finds the reason for a miss, and the recorded requests that are worth comparing with the live one. */
export function diagnoseMiss(request: ClientCall, outcome: MissOutcome, context: MissContext): MissDiagnosis {
  if (outcome.kind === 'exhausted') return diagnoseExhausted(request, outcome.entry, context)
  if (outcome.kind === 'out-of-order') return diagnoseOutOfOrder(request, outcome.entry, context)
  if (outcome.kind === 'unanswered') return diagnoseUnanswered(outcome.entry, context)
  return diagnoseWrongServer(request, context) ?? diagnoseUnknown(request, context)
}

function diagnoseExhausted(request: ClientCall, entry: RequestUsage, context: MissContext): MissDiagnosis {
  const more =
    entry.unanswered.length === 0 ? '' : `; ${entry.unanswered.length} more on the tape have no response`
  const why = `already used ${entry.used} of ${entry.answers} times${more}`
  return diagnosis('EXHAUSTED', why, rankByDistance(request, [entry], context))
}

function diagnoseOutOfOrder(request: ClientCall, entry: RequestUsage, context: MissContext): MissDiagnosis {
  const next = context.matcher.next()
  const first =
    next === undefined
      ? 'no request is expected'
      : `${exchangeLabel(next)} ${describeRequest(next)} comes first`
  return diagnosis(
    'OUT_OF_ORDER',
    `recorded as ${exchangeLabel(entry)}, but ${first}`,
    rankByDistance(request, [entry], context),
  )
}

function diagnoseWrongServer(request: ClientCall, context: MissContext): MissDiagnosis | undefined {
  const onOtherServer = findOnOtherServer(request, context)
  if (onOtherServer === undefined) return undefined
  const why = `the same request was recorded as ${exchangeLabel(onOtherServer)} for the server "${onOtherServer.server}"`
  return { ...diagnosis('WRONG_SERVER', why), onOtherServer }
}

function diagnoseUnanswered({ unanswered, cut }: RequestUsage, { lookup }: MissContext): MissDiagnosis {
  const labels = unanswered.map((frame) =>
    exchangeLabel({ frame, exchange: lookup.turns.exchangeOf(lookup.placeOf(frame) ?? -1) }),
  )
  const recorded = `recorded as ${labels.join(', ')}`
  const why =
    cut.length > 0
      ? 'but only the beginning of the response was kept: record it again without --cut'
      : 'but the tape has no response to it: the server did not answer, or rejected the HTTP request'
  return diagnosis('UNANSWERED', `${recorded}, ${why}`)
}

function diagnoseUnknown(request: ClientCall, context: MissContext): MissDiagnosis {
  const kinds = context.matcher.kinds().filter(({ server }) => server === request.server)
  if (kinds.length === 0) return diagnosis('EMPTY_TAPE', 'the tape has no requests to this server')
  const ofMethod = kinds.filter(({ method }) => method === request.method)
  const era = requestEra(request)
  if (era !== undefined && hasOnlyOtherEras(era, ofMethod.length > 0 ? ofMethod : kinds))
    return diagnosis('ERA_MISMATCH', ERA_MISMATCH_TEXT[era])
  if (ofMethod.length === 0) return unknownMethod(request, kinds)
  return diagnoseKnownMethod(
    request,
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
  modern:
    'a modern request (with a protocol version in _meta), but the tape has only legacy requests; reelay serve --as 2026-07-28 translates them',
  legacy:
    'a legacy request (without a protocol version in _meta), but the tape has only modern requests; reelay serve --as 2025-11-25 translates them',
}

function unknownMethod(request: ClientCall, kinds: readonly RequestKind[]): MissDiagnosis {
  const methods = kinds.map(({ method }) => method)
  return diagnosis('UNKNOWN_METHOD', `no ${request.method} was recorded; ${listNames('methods', methods)}`)
}

function diagnoseKnownMethod(
  request: ClientCall,
  kinds: readonly RequestKind[],
  context: MissContext,
): MissDiagnosis {
  const ofName = kinds.filter(({ name }) => name === toolOrPromptName(request))
  if (ofName.length === 0) return unknownName(request, kinds)
  const nearest = rankByDistance(
    request,
    context.matcher.entries({
      accepts: (kind) => ofName.some((one) => isSameKind(one, kind)),
      like: request,
    }),
    context,
  )
  const [top] = nearest
  const annotations = top === undefined ? [] : annotateValues(top, context)
  const drift = diagnosis(
    'ARGUMENT_DRIFT',
    `same ${requestNoun(request)}, ${describeDifferenceCount(nearest)}`,
    nearest,
  )
  return { ...(unboundHandle(top, annotations) ?? drift), nearest, annotations }
}

/** If every value that differs was generated by the recorded server, the client did not get its values from this tape. */
function unboundHandle(
  top: NearestRequest | undefined,
  annotations: readonly ValueAnnotation[],
): MissDiagnosis | undefined {
  const handles = (top?.differences ?? []).map(({ path, recorded }) => {
    const boundTo = annotations.find((found) => found.path === formatPath(path))?.boundTo
    return (
      boundTo &&
      `${formatPath(path)} was ${describeValue(recorded, 40)}, which the server sent in ${exchangeLabel(boundTo)}`
    )
  })
  if (handles.length === 0 || handles.includes(undefined)) return undefined
  return diagnosis(
    'UNBOUND_HANDLE',
    `${handles.join('; ')}; the client sent a value that is not from this tape`,
  )
}

function unknownName(request: ClientCall, kinds: readonly RequestKind[]): MissDiagnosis {
  const names = kinds.map(({ name }) => String(name))
  const known = listNames(`${requestNoun(request)}s`, names)
  if (toolOrPromptName(request) === undefined)
    return diagnosis('ARGUMENT_DRIFT', `the request names no ${requestNoun(request)}; ${known}`)
  const tool = calledTool(request)
  if (tool === undefined)
    return diagnosis('ARGUMENT_DRIFT', `no ${describeRequest(request)} was recorded; ${known}`)
  return diagnosis('UNKNOWN_TOOL', `no call of "${tool}" was recorded; ${known}`)
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

/** Finds the same request among those to other servers of the tape. */
function findOnOtherServer(
  request: ClientCall,
  { lookup, comparer }: MissContext,
): RecordedRequest | undefined {
  const { turns } = lookup
  if (!lookup.hasOtherServer(request.server)) return undefined
  // Clients send requests without params, such as `tools/list`, to every server.
  if (isConnectionMethod(request.method) || comparer.strategy.paramsOf(request, []) === undefined)
    return undefined
  const key = comparer.keyOf(request)
  for (const place of placesToSearch(request, lookup, key === requestKey(request))) {
    const { trigger, server, method, frame, answered } = turns.summary(place)
    if (trigger !== 'request' || server === request.server || method !== request.method || !answered) continue
    const called = clientCallOf(turns.trigger(place))
    if (called !== undefined && comparer.keyOf({ ...called, server: request.server }) === key)
      return { frame, exchange: turns.exchangeOf(place), ...called }
  }
  return undefined
}

/** The places where the request may be found: by its key if requests are matched by key, otherwise all places. */
function placesToSearch(request: ClientCall, { turns }: TapeLookup, isByKey: boolean): Iterable<number> {
  if (!isByKey) return Array(turns.size).keys()
  const keyed = turns.keyedBy(requestKey)
  const places: number[] = []
  for (const server of new Set(turns.kinds().map((kind) => kind.server))) {
    const first = keyed.first(requestKey({ ...request, server }), request.method)
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
  /** The recorded requests that are worth comparing with the live one, the nearest first. */
  readonly nearest: readonly NearestRequest[]
  /** Facts about values of the nearest request. */
  readonly annotations: readonly ValueAnnotation[]
  /** The same request, recorded for another server. */
  readonly onOtherServer?: RecordedRequest
}

export type MissOutcome = Exclude<MatchOutcome, { kind: 'hit' }>

export interface MissContext extends RankingContext {
  readonly matcher: Matcher
  readonly lookup: TapeLookup
}

/** Without `nearest`, the report shows no differences, because they would be misleading. */
function diagnosis(reason: MissReason, why: string, nearest: readonly NearestRequest[] = []): MissDiagnosis {
  return { reason, why, nearest, annotations: [] }
}

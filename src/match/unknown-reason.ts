import { formatPath } from '../json/path.ts'
import { annotateValues, type ValueAnnotation } from './miss/annotations.ts'
import { describeValue, describeRequest, calledTool } from './describe-request.ts'
import { comparableMiss, incomparableMiss, type MissContext, type MissDiagnosis } from './finding.ts'
import { requestEra, type RequestContent } from './request-key.ts'
import type { RequestKind } from './matcher.ts'
import { toolOrPromptName } from '../wire/name.ts'
import { rankByDistance, type NearestRequest } from './miss/nearest.ts'
import { isOneOfKinds } from './request-kinds.ts'

/** Why a request is not on the tape, and what came nearest to it. */
export function diagnoseUnknown(asked: RequestContent, context: MissContext): MissDiagnosis {
  const kinds = context.index.kinds().filter(({ server }) => server === asked.server)
  if (kinds.length === 0) return incomparableMiss('EMPTY_TAPE', 'the tape holds no request')
  const ofMethod = kinds.filter(({ method }) => method === asked.method)
  if (hasOtherEra(asked, ofMethod.length > 0 ? ofMethod : kinds)) return eraMismatch(asked)
  if (ofMethod.length === 0) return unknownMethod(asked, kinds)
  return diagnoseKnownMethod(
    asked,
    ofMethod.filter(({ era }) => era === requestEra(asked)),
    context,
  )
}

function hasOtherEra(asked: RequestContent, kinds: readonly RequestKind[]): boolean {
  const era = requestEra(asked)
  const recorded = new Set(kinds.map((kind) => kind.era))
  recorded.delete(undefined)
  return era !== undefined && recorded.size > 0 && !recorded.has(era)
}

function eraMismatch(asked: RequestContent): MissDiagnosis {
  const why =
    requestEra(asked) === 'modern'
      ? 'a modern request (it names its protocol version in _meta); the tape holds only legacy ones'
      : 'a legacy request (it names no protocol version in _meta); the tape holds only modern ones'
  return incomparableMiss('ERA_MISMATCH', why)
}

function unknownMethod(asked: RequestContent, kinds: readonly RequestKind[]): MissDiagnosis {
  const methods = kinds.map(({ method }) => method)
  return incomparableMiss(
    'UNKNOWN_METHOD',
    `no ${asked.method} was recorded; ${listNames('methods', methods)}`,
  )
}

function diagnoseKnownMethod(
  asked: RequestContent,
  kinds: readonly RequestKind[],
  context: MissContext,
): MissDiagnosis {
  const ofName = kinds.filter(({ name }) => name === toolOrPromptName(asked))
  if (ofName.length === 0) return unknownName(asked, kinds)
  const nearest = rankByDistance(
    asked,
    context.index.entries({ isMeant: isOneOfKinds(ofName), like: asked }),
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

function unknownName(asked: RequestContent, kinds: readonly RequestKind[]): MissDiagnosis {
  const names = kinds.map(({ name }) => String(name))
  const known = listNames(`${requestNoun(asked)}s`, names)
  if (toolOrPromptName(asked) === undefined)
    return incomparableMiss('ARGUMENT_DRIFT', `it names no ${requestNoun(asked)}; ${known}`)
  const tool = calledTool(asked)
  if (tool === undefined)
    return incomparableMiss('ARGUMENT_DRIFT', `no ${describeRequest(asked)} was recorded; ${known}`)
  return incomparableMiss('UNKNOWN_TOOL', `no call of "${tool}" was recorded; ${known}`)
}

function requestNoun({ method }: RequestContent): string {
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

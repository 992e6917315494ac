import { formatPath } from '../wire/path.ts'
import { annotationsOf, type Annotation } from './annotations.ts'
import { brief, briefRequest, toolOf } from './brief.ts'
import { compared, incomparable, type Context, type Finding } from './finding.ts'
import { eraAsked, type Asked } from './key.ts'
import type { RequestKind } from './matcher.ts'
import { nameOf } from '../wire/name.ts'
import { rankByDistance, type Candidate } from './nearest.ts'
import { isAmong } from './request-kinds.ts'

/** Why a request is not on the tape, and what came nearest to it. */
export function whyUnknown(asked: Asked, context: Context): Finding {
  const kinds = context.index.kinds().filter(({ server }) => server === asked.server)
  if (kinds.length === 0) return incomparable('EMPTY_TAPE', 'the tape holds no request')
  const ofMethod = kinds.filter(({ method }) => method === asked.method)
  if (isOfOtherEra(asked, ofMethod.length > 0 ? ofMethod : kinds)) return eraMismatch(asked)
  if (ofMethod.length === 0) return unknownMethod(asked, kinds)
  return ofKnownMethod(
    asked,
    ofMethod.filter(({ era }) => era === eraAsked(asked)),
    context,
  )
}

function isOfOtherEra(asked: Asked, kinds: readonly RequestKind[]): boolean {
  const era = eraAsked(asked)
  const recorded = new Set(kinds.map((kind) => kind.era))
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

function unknownMethod(asked: Asked, kinds: readonly RequestKind[]): Finding {
  const methods = kinds.map(({ method }) => method)
  return incomparable('UNKNOWN_METHOD', `no ${asked.method} was recorded; ${listed('methods', methods)}`)
}

function ofKnownMethod(asked: Asked, kinds: readonly RequestKind[], context: Context): Finding {
  const ofName = kinds.filter(({ name }) => name === nameOf(asked))
  if (ofName.length === 0) return unknownName(asked, kinds)
  const nearest = rankByDistance(
    asked,
    context.index.entries({ isMeant: isAmong(ofName), like: asked }),
    context,
  )
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

function unknownName(asked: Asked, kinds: readonly RequestKind[]): Finding {
  const names = kinds.map(({ name }) => String(name))
  const known = listed(`${kindOf(asked)}s`, names)
  if (nameOf(asked) === undefined)
    return incomparable('ARGUMENT_DRIFT', `it names no ${kindOf(asked)}; ${known}`)
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

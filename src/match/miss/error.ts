import { formatPath } from '../../json/path.ts'
import { describeValue, describeRequest, shortenValue } from '../describe-request.ts'
import { calledTool } from '../../protocol/methods.ts'
import type { FieldDifference } from '../field-diff.ts'
import type { RecordedRequest } from '../request-groups.ts'
import type { ValueAnnotation, ValueOrigin } from './annotations.ts'
import type { Fix } from './fixes.ts'
import type { Miss } from './miss.ts'
import type { NearestRequest } from './nearest.ts'
import type { MissReason } from './reasons.ts'
import { comparedParams } from '../request-key.ts'

/** Outside -32768..-32000, which JSON-RPC reserves, so that no recorded error can be mistaken for a miss. */
export const MISS_CODE = -39404

/** The miss report as a JSON-RPC error object. */
export interface MissError {
  readonly code: typeof MISS_CODE
  /** One line. */
  readonly message: string
  readonly data: {
    readonly kind: 'replay_miss'
    readonly reason: MissReason
    readonly why: string
    readonly method: string
    readonly tool?: string
    readonly tape: string
    readonly nearest: readonly NearestRequestData[]
    /** What would accept it, ready to paste. */
    readonly fixes: readonly Fix[]
    /** The options that would accept it in a run like this one. */
    readonly accept?: string
    readonly next?: NextData
  }
}

interface NextData {
  readonly frame: number
  readonly method: string
  readonly params: unknown
}

export function missAsError(miss: Miss): MissError {
  const { reason, why, asked, tape, fixes, next } = miss
  const tool = calledTool(asked)
  const accept = fixes.find(({ kind }) => kind === 'run')
  return {
    code: MISS_CODE,
    message: missErrorMessage(miss),
    data: {
      kind: 'replay_miss',
      reason,
      why,
      method: asked.method,
      ...(tool !== undefined && { tool }),
      tape,
      nearest: nearestRequestData(miss),
      fixes,
      ...(accept && { accept: accept.command }),
      ...(next && { next: nextData(next) }),
    },
  }
}

function missErrorMessage({ reason, why, asked, nearest, next }: Miss): string {
  const [first] = nearest[0]?.differences ?? []
  const differs = first === undefined ? '' : ` (nearest #${nearest[0]?.frame}: ${fieldDifferenceText(first)})`
  const expected =
    next === undefined
      ? 'nothing is left on the tape'
      : `next expected: #${next.frame} ${describeRequest(next)}`
  return `REPLAY MISS ${reason}: ${describeRequest(asked)}: ${why}${differs}; ${expected}`
}

function fieldDifferenceText({ path, recorded, got }: FieldDifference): string {
  return `${formatPath(path)} recorded ${valueOrNothing(recorded)}, got ${valueOrNothing(got)}`
}

function valueOrNothing(value: unknown): string {
  return value === undefined ? 'nothing' : describeValue(value, 40)
}

function nextData(next: RecordedRequest): NextData {
  return { frame: next.frame, method: next.method, params: shortenValue(comparedParams(next)) }
}

/** A recorded request that came near, for programs. */
interface NearestRequestData {
  readonly frame: number
  readonly distance: number
  readonly used: number
  readonly of: number
  /** When it was recorded, as ISO 8601; told of the nearest one. */
  readonly recorded?: string
  readonly differences: readonly DifferenceData[]
  /** Where values that are the same came from. */
  readonly bound?: readonly { readonly path: string; readonly boundTo: string }[]
}

interface DifferenceData {
  readonly path: string
  readonly recorded?: unknown
  readonly got?: unknown
  readonly looksLike?: string
  readonly rule?: string
  /** The frame and path of the response that the recorded value came from. */
  readonly boundTo?: string
}

const MOST_NEAREST = 3
const MOST_DIFFERENCES = 20

/** The nearest recorded requests, the first with all that is known of it. */
function nearestRequestData(miss: Miss): readonly NearestRequestData[] {
  return miss.nearest.slice(0, MOST_NEAREST).map((candidate, place) => ({
    ...candidateData(candidate),
    ...(place === 0 && annotatedNearest(candidate, miss)),
  }))
}

function candidateData({ frame, distance, entry, differences }: NearestRequest): NearestRequestData {
  return {
    frame,
    distance: Math.round(distance * 1000) / 1000,
    used: entry.used,
    of: entry.answers,
    differences: differences.slice(0, MOST_DIFFERENCES).map(differenceData),
  }
}

function differenceData({ path, ...sides }: FieldDifference): DifferenceData {
  return {
    path: formatPath(path),
    ...('recorded' in sides && { recorded: shortenValue(sides.recorded) }),
    ...('got' in sides && { got: shortenValue(sides.got) }),
  }
}

function annotatedNearest(
  { differences }: NearestRequest,
  { annotations, recordedAt }: Miss,
): Partial<NearestRequestData> {
  const known = new Map(annotations.map((annotation) => [annotation.path, annotation]))
  const differing = differences.slice(0, MOST_DIFFERENCES).map(differenceData)
  const bound = annotations.flatMap(({ path, boundTo }) =>
    boundTo === undefined || differing.some((one) => one.path === path)
      ? []
      : [{ path, boundTo: originText(boundTo) }],
  )
  return {
    ...(recordedAt !== undefined && { recorded: new Date(recordedAt).toISOString() }),
    differences: differing.map((one) => ({ ...one, ...annotationData(known.get(one.path)) })),
    ...(bound.length > 0 && { bound }),
  }
}

function annotationData(annotation: ValueAnnotation | undefined): Partial<DifferenceData> {
  const { looksLike, boundTo, rule } = annotation ?? {}
  return {
    ...(rule !== undefined && { rule }),
    ...(looksLike !== undefined && { looksLike }),
    ...(boundTo !== undefined && { boundTo: originText(boundTo) }),
  }
}

function originText({ frame, path }: ValueOrigin): string {
  return `#${frame} ${formatPath(path)}`
}

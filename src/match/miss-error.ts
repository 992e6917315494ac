import type { Annotation } from './annotations.ts'
import { brief, briefRequest, briefValue, toolOf } from './brief.ts'
import type { Difference } from './field-diff.ts'
import { comparedParams } from './key.ts'
import type { MissReason } from './miss-reason.ts'
import type { Fix } from './fixes.ts'
import type { Miss } from './miss.ts'
import type { Origin } from './origin.ts'
import type { Candidate } from './nearest.ts'
import { formatPath } from '../wire/path.ts'
import type { RecordedRequest } from './matcher.ts'

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
    readonly nearest: readonly NearestData[]
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

interface NearestData {
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

export function missAsError(miss: Miss): MissError {
  const { reason, why, asked, tape, fixes, next } = miss
  const tool = toolOf(asked)
  const accept = fixes.find(({ kind }) => kind === 'run')
  return {
    code: MISS_CODE,
    message: messageOf(miss),
    data: {
      kind: 'replay_miss',
      reason,
      why,
      method: asked.method,
      ...(tool !== undefined && { tool }),
      tape,
      nearest: nearestData(miss),
      fixes,
      ...(accept && { accept: accept.command }),
      ...(next && { next: nextData(next) }),
    },
  }
}

const NEAREST = 3
const DIFFERENCES = 20

function messageOf({ reason, why, asked, nearest, next }: Miss): string {
  const [first] = nearest[0]?.differences ?? []
  const differs = first === undefined ? '' : ` (nearest #${nearest[0]?.frame}: ${inWords(first)})`
  const expected =
    next === undefined ? 'nothing is left on the tape' : `next expected: #${next.frame} ${briefRequest(next)}`
  return `REPLAY MISS ${reason}: ${briefRequest(asked)}: ${why}${differs}; ${expected}`
}

function inWords({ path, recorded, got }: Difference): string {
  return `${formatPath(path)} recorded ${say(recorded)}, got ${say(got)}`
}

function say(value: unknown): string {
  return value === undefined ? 'nothing' : brief(value, 40)
}

function nextData(next: RecordedRequest): NextData {
  return { frame: next.frame, method: next.method, params: briefValue(comparedParams(next)) }
}

function nearestData(miss: Miss): readonly NearestData[] {
  return miss.nearest.slice(0, NEAREST).map((candidate, place) => ({
    ...candidateData(candidate),
    ...(place === 0 && knownOfNearest(candidate, miss)),
  }))
}

function candidateData({ frame, distance, entry, differences }: Candidate): NearestData {
  return {
    frame,
    distance: Math.round(distance * 1000) / 1000,
    used: entry.used,
    of: entry.answers,
    differences: differences.slice(0, DIFFERENCES).map(differenceData),
  }
}

function differenceData({ path, ...sides }: Difference): DifferenceData {
  return {
    path: formatPath(path),
    ...('recorded' in sides && { recorded: briefValue(sides.recorded) }),
    ...('got' in sides && { got: briefValue(sides.got) }),
  }
}

function knownOfNearest({ differences }: Candidate, { annotations, recordedAt }: Miss): Partial<NearestData> {
  const known = new Map(annotations.map((annotation) => [annotation.path, annotation]))
  const differing = differences.slice(0, DIFFERENCES).map(differenceData)
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

function annotationData(annotation: Annotation | undefined): Partial<DifferenceData> {
  const { looksLike, boundTo, rule } = annotation ?? {}
  return {
    ...(rule !== undefined && { rule }),
    ...(looksLike !== undefined && { looksLike }),
    ...(boundTo !== undefined && { boundTo: originText(boundTo) }),
  }
}

function originText({ frame, path }: Origin): string {
  return `#${frame} ${formatPath(path)}`
}

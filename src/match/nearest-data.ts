import { formatPath } from '../json/path.ts'
import type { ValueAnnotation } from './miss/annotations.ts'
import { shortenValue } from './describe-request.ts'
import type { FieldDifference } from './field-diff.ts'
import type { Miss } from './miss/miss.ts'
import type { NearestRequest } from './miss/nearest.ts'
import type { ValueOrigin } from './origin.ts'

/** A recorded request that came near, for programs. */
export interface NearestRequestData {
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
export function nearestRequestData(miss: Miss): readonly NearestRequestData[] {
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

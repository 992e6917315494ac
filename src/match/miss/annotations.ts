import { formatPath, type PathPattern } from '../../json/path.ts'
import { DAY, parseTimestamp, offsetFromNow } from '../comparisons/relative-date.ts'
import { relativeDateKind } from '../comparisons/relative-date.merging.ts'
import type { TapeLookup } from '../evidence.ts'
import type { NearestRequest } from './nearest.ts'
import type { RequestComparer } from '../request-comparer.ts'
import { findValueOrigin, type ValueOrigin } from '../origin.ts'
import { comparisonAt, type ScopedRules } from '../ruleset.ts'
import { valueAtPath } from '../path-values.ts'

/** What the tape knows of one value of a request. */
export interface ValueAnnotation {
  readonly path: string
  /** In words, what a value seems to be counted from: `today + 7 days`. */
  readonly looksLike?: string
  /** The response that the recorded value came from. */
  readonly boundTo?: ValueOrigin
  /** The recorded value, where it is the live one too. */
  readonly value?: unknown
  /** The rule that compares it. */
  readonly rule?: string
}

/** What can be said of the values of the nearest request, beyond that they differ or not. */
export function annotateValues(
  candidate: NearestRequest,
  { evidence, matching }: { evidence: TapeLookup; matching: RequestComparer },
): readonly ValueAnnotation[] {
  const { request } = candidate.entry
  const { rules } = matching.comparable(request)
  const differing = candidate.differences.slice(0, MOST_ANNOTATIONS).map(({ path, recorded, got }) => ({
    path: formatPath(path),
    ...relativeDateNote(recorded, got, candidate, evidence),
    ...originNote(recorded, candidate, evidence),
    ...ruleNote(rules, path),
  }))
  const equal = candidate.equal.slice(0, MOST_ANNOTATIONS).map((path) => {
    const value = valueAtPath({ params: request.params }, path)
    const bound = originNote(value, candidate, evidence)
    return { path: formatPath(path), ...(bound.boundTo && { value, ...bound }) }
  })
  return [...differing, ...equal].filter((annotation) => Object.keys(annotation).length > 1)
}

function ruleNote(rules: ScopedRules, path: PathPattern): Pick<ValueAnnotation, 'rule'> {
  const comparison = comparisonAt(rules, path)
  return comparison === undefined ? {} : { rule: comparison.text }
}

const MOST_ANNOTATIONS = 20

function relativeDateNote(
  recorded: unknown,
  got: unknown,
  { entry }: NearestRequest,
  evidence: TapeLookup,
): Pick<ValueAnnotation, 'looksLike'> {
  const moment = parseTimestamp(got)
  const times = evidence.timesOf(entry)
  if (moment === undefined || relativeDateKind.parse('').distance(recorded, got, times) === undefined)
    return {}
  const days = Math.round(offsetFromNow(times.live, moment) / DAY)
  return { looksLike: days === 0 ? 'today' : `today ${days < 0 ? '-' : '+'} ${formatDays(Math.abs(days))}` }
}

function formatDays(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

function originNote(
  value: unknown,
  { entry, frame }: NearestRequest,
  evidence: TapeLookup,
): Pick<ValueAnnotation, 'boundTo'> {
  const place = evidence.placeOf(frame) ?? 0
  const origin = findValueOrigin(value, { turns: evidence.turns, place, frame, server: entry.request.server })
  return origin === undefined ? {} : { boundTo: origin }
}

import { formatPath, type Path } from '../wire/path.ts'
import { DAY, momentOf, offsetFrom } from './comparisons/moment.ts'
import { relativeDateKind } from './comparisons/relative-date.ts'
import type { Evidence } from './evidence.ts'
import type { Candidate } from './nearest.ts'
import type { Matching } from './matching.ts'
import { originOf, type Origin } from './origin.ts'
import { comparisonAt, type RulesInScope } from './ruleset.ts'
import { valueAt } from './value-at.ts'

/** What the tape knows of one value of a request. */
export interface Annotation {
  readonly path: string
  /** In words, what a value seems to be counted from: `today + 7 days`. */
  readonly looksLike?: string
  /** The response that the recorded value came from. */
  readonly boundTo?: Origin
  /** The recorded value, where it is the live one too. */
  readonly value?: unknown
  /** The rule that compares it. */
  readonly rule?: string
}

/** What can be said of the values of the nearest request, beyond that they differ or not. */
export function annotationsOf(
  candidate: Candidate,
  { evidence, matching }: { evidence: Evidence; matching: Matching },
): readonly Annotation[] {
  const { request } = candidate.entry
  const { rules } = matching.formOf(request)
  const differing = candidate.differences.slice(0, MOST).map(({ path, recorded, got }) => ({
    path: formatPath(path),
    ...looksLike(recorded, got, candidate, evidence),
    ...boundTo(recorded, candidate, evidence),
    ...ruleAt(rules, path),
  }))
  const equal = candidate.equal.slice(0, MOST).map((path) => {
    const value = valueAt({ params: request.params }, path)
    const bound = boundTo(value, candidate, evidence)
    return { path: formatPath(path), ...(bound.boundTo && { value, ...bound }) }
  })
  return [...differing, ...equal].filter((annotation) => Object.keys(annotation).length > 1)
}

function ruleAt(rules: RulesInScope, path: Path): Pick<Annotation, 'rule'> {
  const comparison = comparisonAt(rules, path)
  return comparison === undefined ? {} : { rule: comparison.text }
}

const MOST = 20

function looksLike(
  recorded: unknown,
  got: unknown,
  { entry }: Candidate,
  evidence: Evidence,
): Pick<Annotation, 'looksLike'> {
  const moment = momentOf(got)
  const times = evidence.timesOf(entry)
  if (moment === undefined || relativeDateKind.parse('').distance(recorded, got, times) === undefined)
    return {}
  const days = Math.round(offsetFrom(times.live, moment) / DAY)
  return { looksLike: days === 0 ? 'today' : `today ${days < 0 ? '-' : '+'} ${daysInWords(Math.abs(days))}` }
}

function daysInWords(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

function boundTo(
  value: unknown,
  { entry, frame }: Candidate,
  evidence: Evidence,
): Pick<Annotation, 'boundTo'> {
  const place = evidence.placeOf(frame) ?? 0
  const origin = originOf(value, { turns: evidence.turns, place, frame, server: entry.request.server })
  return origin === undefined ? {} : { boundTo: origin }
}

import { formatPath } from '../wire/path.ts'
import { DAY, momentOf, offsetFrom } from './comparisons/moment.ts'
import { relativeDateKind } from './comparisons/relative-date.ts'
import type { Evidence } from './evidence.ts'
import type { Candidate } from './nearest.ts'
import { originOf, type Origin } from './origin.ts'
import { valueAt } from './value-at.ts'

/** What the tape knows of one value of a request. */
export interface Annotation {
  readonly path: string
  /** In words, what a value seems to be counted from: `today + 7 days`. */
  readonly looksLike?: string
  /** The response that the recorded value came from. */
  readonly boundTo?: Origin
}

/** What can be said of the values of the nearest request, beyond that they differ or not. */
export function annotationsOf(candidate: Candidate, evidence: Evidence): readonly Annotation[] {
  const { request } = candidate.entry
  const differing = candidate.differences.slice(0, MOST).map(({ path, recorded, got }) => ({
    path: formatPath(path),
    ...looksLike(recorded, got, candidate, evidence),
    ...boundTo(recorded, candidate, evidence),
  }))
  const equal = candidate.equal.slice(0, MOST).map((path) => ({
    path: formatPath(path),
    ...boundTo(valueAt({ params: request.params }, path), candidate, evidence),
  }))
  return [...differing, ...equal].filter((found) => 'looksLike' in found || 'boundTo' in found)
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
  const origin = originOf(value, { turns: evidence.turns, frame, server: entry.request.server })
  return origin === undefined ? {} : { boundTo: origin }
}

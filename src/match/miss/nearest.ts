import { isObject, member } from '../../protocol/message.ts'
import type { PathPattern } from '../../json/path.ts'
import type { TapeLookup } from '../evidence.ts'
import type { FieldDifference } from '../field-diff.ts'
import type { RequestContent } from '../request-key.ts'
import type { RequestUsage } from '../matcher.ts'
import type { RequestComparer } from '../request-comparer.ts'

/** A recorded request that came near, and what keeps it from being the answer. */
export interface NearestRequest {
  readonly entry: RequestUsage
  /** The recording that would be used next. */
  readonly frame: number
  readonly distance: number
  readonly fields: number
  readonly differences: readonly FieldDifference[]
  readonly equal: readonly PathPattern[]
}

export interface RankingContext {
  readonly matching: RequestComparer
  readonly evidence: Pick<TapeLookup, 'timesOf'>
}

/** The recorded requests, nearest first; at the same distance an unused one comes before a spent one. */
export function rankByDistance(
  asked: RequestContent,
  entries: readonly RequestUsage[],
  ranking: RankingContext,
): readonly NearestRequest[] {
  const candidates = mostSimilar(asked, entries).map((entry) => toNearestRequest(entry, asked, ranking))
  return candidates.toSorted(
    (a, b) => a.distance - b.distance || usedUpRank(a.entry) - usedUpRank(b.entry) || a.frame - b.frame,
  )
}

function toNearestRequest(
  entry: RequestUsage,
  asked: RequestContent,
  { matching, evidence }: RankingContext,
): NearestRequest {
  // Only rules look at the times, and to find them is a search.
  const times = matching.rules.length === 0 ? { recorded: 0, live: 0 } : evidence.timesOf(entry)
  return { entry, frame: entry.frame, ...matching.diff(entry.request, asked, times) }
}

function usedUpRank({ used, answers }: RequestUsage): number {
  return used < answers ? 0 : 1
}

const MOST_COMPARED = 60

/** The few that are worth a look at every field: on a long tape most have nothing in common with the request. */
function mostSimilar(asked: RequestContent, entries: readonly RequestUsage[]): readonly RequestUsage[] {
  if (entries.length <= MOST_COMPARED) return entries
  const got = argumentsOf(asked)
  const rated = entries.map((entry) => ({ entry, shared: similarityScore(got, argumentsOf(entry.request)) }))
  rated.sort(
    (a, b) =>
      b.shared - a.shared || usedUpRank(a.entry) - usedUpRank(b.entry) || a.entry.frame - b.entry.frame,
  )
  return rated.slice(0, MOST_COMPARED).map(({ entry }) => entry)
}

function argumentsOf({ params }: RequestContent): unknown {
  return member(params, 'arguments') ?? params
}

function similarityScore(got: unknown, recorded: unknown): number {
  if (!isObject(got) || !isObject(recorded)) return got === recorded ? 1 : 0
  let shared = 0
  for (const name of Object.keys(got)) {
    if (!Object.hasOwn(recorded, name)) continue
    shared += got[name] === recorded[name] ? 2 : 1
  }
  return shared - Object.keys(recorded).length / 1_000
}

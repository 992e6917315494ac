import type { ComparableRequest } from './comparable-request.ts'
import type { RequestContent } from './request-key.ts'
import { toolOrPromptName } from '../wire/name.ts'
import type { GroupedRecording, GroupedRequest, RequestGroups } from './request-groups.ts'

/** Recordings that may answer a live request, and how far their request is from it. */
export interface RankedRequest {
  readonly recorded: GroupedRequest
  readonly distance: number
}

interface RankingState {
  readonly groups: RequestGroups
  /** In milliseconds since 1970. */
  readonly times: { readonly started: number; readonly now: number }
  readonly usedOf: (shelf: GroupedRequest) => number
}

/**
 * The recordings that answer a request: those with an answer left before others, then the nearest first, then in recorded
 * order. What was recorded as it is asked now is never answered by something else.
 */
export function rankRecordedRequests(
  asked: RequestContent,
  situation: RankingState,
): readonly RankedRequest[] {
  const live = situation.groups.matching.comparable(asked)
  const own = findSameRequest(live, situation.groups)
  const candidates = own === undefined ? requestsToRank(live, situation) : [own]
  const fits = candidates.flatMap((shelf) => rankRequest(shelf, live, situation))
  const same = fits.filter(({ distance, recorded }) => distance === 0 && recorded.recordings.length > 0)
  const inOrder = situation.groups.matching.strategy.inOrder === true
  return (same.length > 0 && !inOrder ? same : fits).toSorted(
    (a, b) =>
      Number(isUsedUp(a.recorded, situation)) - Number(isUsedUp(b.recorded, situation)) ||
      a.distance - b.distance ||
      nextFrame(a.recorded, situation) - nextFrame(b.recorded, situation),
  )
}

// Where no rule governs or ignores, the same request is one shelf, and there is no need to look further.
function findSameRequest(
  { request, ruleValues, rules }: ComparableRequest,
  shelves: RequestGroups,
): GroupedRequest | undefined {
  if (ruleValues.length > 0 || rules.ignore.length > 0) return undefined
  const own = shelves.withKey(shelves.matching.keyOf(request))
  return own !== undefined && own.recordings.length > 0 ? own : undefined
}

function requestsToRank(
  live: ComparableRequest,
  { groups, usedOf }: RankingState,
): readonly GroupedRequest[] {
  const group = groups.inGroup(groups.matching.groupKeyOf(live))
  const most = groups.matching.strategy.nearestAmong
  if (most === undefined || group.length <= most) return group
  const unused = group.filter((shelf) => usedOf(shelf) < shelf.recordings.length)
  const left = unused.length > 0 ? unused : group
  const named = left.filter(({ request }) => toolOrPromptName(request) === toolOrPromptName(live.request))
  return (named.length > 0 ? named : left).slice(0, most)
}

function rankRequest(
  recorded: GroupedRequest,
  live: ComparableRequest,
  situation: RankingState,
): readonly RankedRequest[] {
  const { groups, times } = situation
  const distance = groups.matching.distance(recorded.comparable, live, {
    recorded: live.ruleValues.length === 0 ? 0 : recordingTime(recorded, situation),
    live: times.now,
  })
  return distance === undefined ? [] : [{ recorded, distance }]
}

// To be looked up only for rules: it may stand on a disk.
function recordingTime(shelf: GroupedRequest, { groups, times, usedOf }: RankingState): number {
  const recording = nextRecording(shelf, usedOf)
  return recording === undefined ? Number.NaN : times.started + groups.timeOf(recording)
}

function isUsedUp(shelf: GroupedRequest, { usedOf }: RankingState): boolean {
  return usedOf(shelf) >= shelf.recordings.length
}

function nextFrame(shelf: GroupedRequest, { usedOf }: RankingState): number {
  return nextRecording(shelf, usedOf)?.frame ?? shelf.request.frame
}

/** The recording that would be used next, or was used last. */
export function nextRecording(
  shelf: GroupedRequest,
  usedOf: RankingState['usedOf'],
): GroupedRecording | undefined {
  return shelf.recordings[usedOf(shelf)] ?? shelf.recordings.at(-1)
}

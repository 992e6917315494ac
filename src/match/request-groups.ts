import type { ComparableRequest } from './comparable-request.ts'
import type { RecordedRequest } from './matcher.ts'
import { PlayableTurns } from './playable-turns.ts'
import type { RequestComparer } from './request-comparer.ts'
import { isUncountedMethod, type RequestContent } from './request-key.ts'
import { toolOrPromptName } from '../protocol/methods.ts'
import { clientCallOf, type TurnStore } from '../tape/turns.ts'
import type { Turn } from '../tape/turn.ts'

/** All recordings of one request, in their order, and the request as it is compared. */
export interface GroupedRequest {
  readonly request: RecordedRequest
  readonly comparable: ComparableRequest
  /** Those that can be played. */
  readonly recordings: readonly GroupedRecording[]
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
}

export interface GroupedRecording {
  readonly place: number
  readonly frame: number
}

interface RequestGroupsOptions {
  readonly matching: RequestComparer
  /** Only what was sent to this server counts as recorded. */
  readonly server: string | undefined
}

/** The requests of a tape, by what a way of matching lets answer what. They never change: all connections share them. */
export class RequestGroups {
  readonly matching: RequestComparer
  /** The shelf of each recording, in recorded order; the handshake and `ping` do not count. */
  readonly inOrder: readonly { readonly shelf: GroupedRequest; readonly request: RecordedRequest }[]
  readonly #store: TurnStore
  readonly #times = new Map<number, number>()
  readonly #byKey = new Map<string, MutableGroupedRequest>()
  readonly #byGroup = new Map<string, GroupedRequest[]>()

  constructor(store: TurnStore, { matching, server }: RequestGroupsOptions) {
    this.matching = matching
    this.#store = store
    this.inOrder = this.#build(server).toSorted((a, b) => a.request.frame - b.request.frame)
  }

  withKey(key: string): GroupedRequest | undefined {
    return this.#byKey.get(key)
  }

  inGroup(group: string): readonly GroupedRequest[] {
    return this.#byGroup.get(group) ?? []
  }

  all(): readonly GroupedRequest[] {
    return [...this.#byKey.values()]
  }

  turnOf({ place }: GroupedRecording): Turn | undefined {
    return this.#store.at(place)
  }

  /** When the request was sent, in milliseconds from the start of the tape. */
  timeOf({ place }: GroupedRecording): number {
    const known = this.#times.get(place) ?? this.#store.at(place)?.trigger?.t ?? Number.NaN
    this.#times.set(place, known)
    return known
  }

  #build(server: string | undefined): RequestGroups['inOrder'][number][] {
    const playable = new PlayableTurns(this.#store)
    const inOrder: RequestGroups['inOrder'][number][] = []
    for (let place = 0; place < this.#store.size; place++) {
      const { trigger, server: asked, method } = this.#store.summary(place)
      if (trigger !== 'request' || (server !== undefined && asked !== server)) continue
      const added = this.#add(place, playable.has(place))
      if (added !== undefined && playable.has(place) && !isUncountedMethod(method)) inOrder.push(added)
    }
    return inOrder
  }

  #add(place: number, isPlayable: boolean): RequestGroups['inOrder'][number] | undefined {
    const called = clientCallOf(this.#store.trigger(place))
    const { frame } = this.#store.summary(place)
    if (called === undefined) return undefined
    const request: RecordedRequest = { frame, ...called }
    const shelf = this.#requestFor(request)
    if (isPlayable) shelf.recordings.push({ place, frame })
    else shelf.unanswered.push(frame)
    return { shelf, request }
  }

  #requestFor(request: RecordedRequest): MutableGroupedRequest {
    const key = this.matching.keyOf(request)
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const comparable = this.matching.comparable(request)
    const shelf: MutableGroupedRequest = { request, comparable, recordings: [], unanswered: [] }
    this.#byKey.set(key, shelf)
    this.#addToGroup(shelf)
    return shelf
  }

  #addToGroup(shelf: GroupedRequest): void {
    const group = this.matching.groupKeyOf(shelf.comparable)
    const known = this.#byGroup.get(group)
    if (known === undefined) this.#byGroup.set(group, [shelf])
    else known.push(shelf)
  }
}

interface MutableGroupedRequest extends GroupedRequest {
  readonly recordings: GroupedRecording[]
  readonly unanswered: number[]
}

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

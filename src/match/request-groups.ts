import { toolOrPromptName } from '../protocol/message.ts'
import type { ClientCall, NumberedMessage } from '../tape/turns.ts'
import type { ComparableRequest } from './comparable-request.ts'
import type { RequestComparer } from './request-comparer.ts'

/** Reads the params of a request now, so that it can be printed and stored. */
export function toPlainRequest({ params, ...request }: RecordedRequest): RecordedRequest {
  return { ...request, ...(params !== undefined && { params }) }
}

/** A request on the tape, with its numbers. */
export interface RecordedRequest extends ClientCall, NumberedMessage {}

/** The key of a request, and the first place under it, which identifies the request. */
export interface KeyedPlaces {
  readonly key: string
  /** -1 if the key is not on the tape. */
  readonly first: number
}

/** All recordings of one request. */
export interface RequestRecordings extends KeyedPlaces {
  readonly request: RecordedRequest
  /** The places of the recordings that can be played, in the order in which they are played. */
  readonly playable: readonly number[]
  /** The frames of the recordings that have no answer. */
  readonly unanswered: readonly number[]
  /** Those of the unanswered frames whose answer was cut off by `--cut`. */
  readonly cut: readonly number[]
}

/** The state of a connection, and facts about recordings, that ranking needs. */
export interface RankingState {
  /** In milliseconds since 1970. */
  readonly now: number
  /** How many recordings of a request this connection has used. */
  readonly usedOf: (recordings: RequestRecordings) => number
  readonly frameAt: (place: number) => number
  /** When the request at a place was sent, in milliseconds since 1970. */
  readonly sentAt: (place: number) => number
}

interface Candidate {
  readonly recordings: RequestRecordings
  readonly comparable: ComparableRequest
}

interface RankedCandidate {
  readonly recordings: RequestRecordings
  readonly distance: number
  readonly isUsedUp: boolean
  readonly frame: number
}

/**
 * The recorded requests in groups: a live request is compared only with the requests of its own group. Never changes, so
 * all connections share it.
 */
export class RequestGroups {
  readonly #comparer: RequestComparer
  readonly #groups = new Map<string, Candidate[]>()

  constructor(requests: Iterable<RequestRecordings>, comparer: RequestComparer) {
    this.#comparer = comparer
    for (const recordings of requests) this.#add(recordings)
  }

  /**
   * The requests that may answer a live one: those with answers left first, then the nearest, then in recorded order. If a
   * recorded request equals the live one, no other request may answer it.
   */
  rank(live: ComparableRequest, state: RankingState): readonly RequestRecordings[] {
    const ranked = this.#candidates(live, state).flatMap((candidate) => this.#compare(candidate, live, state))
    const equal = ranked.filter(
      ({ distance, recordings }) => distance === 0 && recordings.playable.length > 0,
    )
    const inOrder = this.#comparer.strategy.inOrder === true
    return (equal.length > 0 && !inOrder ? equal : ranked)
      .toSorted(
        (a, b) => Number(a.isUsedUp) - Number(b.isUsedUp) || a.distance - b.distance || a.frame - b.frame,
      )
      .map(({ recordings }) => recordings)
  }

  #add(recordings: RequestRecordings): void {
    const comparable = this.#comparer.comparable(recordings.request)
    const key = this.#comparer.groupKeyOf(comparable)
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, [{ recordings, comparable }])
    else group.push({ recordings, comparable })
  }

  #candidates(live: ComparableRequest, { usedOf }: RankingState): readonly Candidate[] {
    const group = this.#groups.get(this.#comparer.groupKeyOf(live)) ?? []
    const most = this.#comparer.strategy.nearestAmong
    if (most === undefined || group.length <= most) return group
    const unused = group.filter(({ recordings }) => usedOf(recordings) < recordings.playable.length)
    const left = unused.length > 0 ? unused : group
    const name = toolOrPromptName(live.request)
    const named = left.filter(({ recordings }) => toolOrPromptName(recordings.request) === name)
    return (named.length > 0 ? named : left).slice(0, most)
  }

  #compare(
    { recordings, comparable }: Candidate,
    live: ComparableRequest,
    { now, usedOf, frameAt, sentAt }: RankingState,
  ): readonly RankedCandidate[] {
    const used = usedOf(recordings)
    const place = nextPlace(recordings, used)
    // The time is read only if a rule needs it: the request may be on disk.
    const recorded = live.ruleValues.length === 0 ? 0 : place === undefined ? Number.NaN : sentAt(place)
    const distance = this.#comparer.distance(comparable, live, { recorded, live: now })
    if (distance === undefined) return []
    const frame = place === undefined ? recordings.request.frame : frameAt(place)
    return [{ recordings, distance, isUsedUp: used >= recordings.playable.length, frame }]
  }
}

/** The place of the recording that is played next, or of the last one if all are used. */
export function nextPlace({ playable }: RequestRecordings, used: number): number | undefined {
  return playable[used] ?? playable.at(-1)
}

import type { PathPattern } from '../../json/path.ts'
import type { RequestTimes } from '../comparisons/comparison.ts'
import type { FieldDifference } from '../field-diff.ts'
import type { RequestUsage } from '../matcher.ts'
import type { RequestComparer } from '../request-comparer.ts'
import type { ClientCall, TurnStore } from '../../tape/turns.ts'
import { isObject, member } from '../../protocol/message.ts'
import type { Turn } from '../../tape/turn.ts'

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

interface RankingContext {
  readonly matching: RequestComparer
  readonly evidence: Pick<TapeLookup, 'timesOf'>
}

/** The recorded requests, nearest first; at the same distance an unused one comes before a spent one. */
export function rankByDistance(
  asked: ClientCall,
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
  asked: ClientCall,
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
function mostSimilar(asked: ClientCall, entries: readonly RequestUsage[]): readonly RequestUsage[] {
  if (entries.length <= MOST_COMPARED) return entries
  const got = argumentsOf(asked)
  const rated = entries.map((entry) => ({ entry, shared: similarityScore(got, argumentsOf(entry.request)) }))
  rated.sort(
    (a, b) =>
      b.shared - a.shared || usedUpRank(a.entry) - usedUpRank(b.entry) || a.entry.frame - b.entry.frame,
  )
  return rated.slice(0, MOST_COMPARED).map(({ entry }) => entry)
}

function argumentsOf({ params }: ClientCall): unknown {
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

interface TapeLookupOptions {
  /** The turns of the whole tape, of all its servers. */
  readonly turns: TurnStore
  /** When the recording began, as in the tape's header. */
  readonly started: string
  readonly now: () => number
}

/** What a miss report looks up on the tape. */
export class TapeLookup {
  readonly turns: TurnStore
  readonly #started: number
  readonly #now: () => number
  #places: ReadonlyMap<number, number> | undefined

  constructor({ turns, started, now }: TapeLookupOptions) {
    this.turns = turns
    this.#started = Date.parse(started)
    this.#now = now
  }

  /** Looked up when a rule asks for them: the recorded one stands on the tape. */
  timesOf(entry: RequestUsage): RequestTimes {
    const recordedAt = (): number => this.recordedAt(entry) ?? Number.NaN
    return {
      get recorded() {
        return recordedAt()
      },
      live: this.#now(),
    }
  }

  /** In milliseconds since 1970; undefined when the tape does not say. */
  recordedAt({ frame }: RequestUsage): number | undefined {
    const at = this.#started + (this.turnAt(frame)?.trigger?.t ?? Number.NaN)
    return Number.isNaN(at) ? undefined : at
  }

  /** The turn that a request in this frame set off. */
  turnAt(frame: number): Turn | undefined {
    const place = this.placeOf(frame)
    return place === undefined ? undefined : this.turns.at(place)
  }

  /** The place of the turn that a request in this frame set off. */
  placeOf(frame: number): number | undefined {
    const place = findPlaceByFrame(this.turns, frame)
    if (place !== undefined) return place
    this.#places ??= placesByFrame(this.turns)
    return this.#places.get(frame)
  }

  hasOtherServer(server: string): boolean {
    return this.turns.kinds().some((kind) => kind.trigger === 'request' && kind.server !== server)
  }
}

// The frames of most tapes are in order.
function findPlaceByFrame(turns: TurnStore, frame: number): number | undefined {
  let low = 0
  let high = turns.size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (turns.summary(middle).frame < frame) low = middle + 1
    else high = middle
  }
  return low < turns.size && turns.summary(low).frame === frame ? low : undefined
}

// One look at the whole tape, at the first miss: on a long tape there should be no other.
function placesByFrame(turns: TurnStore): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (let place = 0; place < turns.size; place++) places.set(turns.summary(place).frame, place)
  return places
}

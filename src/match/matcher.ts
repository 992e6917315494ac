import type { PathPattern } from '../json/path.ts'
import { turnStoreOf, type ClientCall, type Turns, type Turn } from '../tape/turns.ts'
import type { ComparableRequest } from './comparable-request.ts'
import { createComparer, type MatchOptions } from './options.ts'
import type { RequestComparer } from './request-comparer.ts'
import {
  nextPlace,
  type KeyedPlaces,
  type RecordedRequest,
  type RequestRecordings,
} from './request-groups.ts'
import { RequestIndex, type RequestFilter, type RequestKind } from './request-index.ts'
import { isListMethod, isUncountedMethod } from './request-key.ts'

export interface MatcherOptions extends MatchOptions {
  /** Only requests to this server count as recorded. */
  readonly server?: string
  /** When the recording began, as in the tape's header. The rule `relative-date` needs it. */
  readonly started?: string
  readonly now?: () => number
  /** Repeats the last recorded page of a list when all are used: some clients list again before they call a tool. */
  readonly repeatsLists?: boolean | undefined
}

export type MatchOutcome =
  | {
      readonly kind: 'hit'
      readonly turn: Turn
      /** True if all recorded answers were used and the last one is given again. */
      readonly repeated: boolean
      /** The strategy or rule that accepted a recorded request which differs from the live one. */
      readonly loose?: string
    }
  | { readonly kind: 'exhausted'; readonly entry: RequestUsage }
  /** The request is on the tape, without an answer. */
  | { readonly kind: 'unanswered'; readonly entry: RequestUsage }
  /** The request is on the tape, after others that were not sent yet. */
  | { readonly kind: 'out-of-order'; readonly entry: RequestUsage }
  | { readonly kind: 'unknown' }

/** How far one connection has used the recordings of a request. */
export interface RequestUsage {
  readonly request: RecordedRequest
  /** The number of recordings that can be played. */
  readonly answers: number
  readonly used: number
  /** The frame of the recording that is played next, or of the last one if all are used. */
  readonly frame: number
  /** The exchange of that recording. */
  readonly exchange?: number | undefined
  /** The frames of the recordings that have no answer. */
  readonly unanswered: readonly number[]
  /** Those of the unanswered frames whose answer was cut off by `--cut`. */
  readonly cut: readonly number[]
}

interface UsageCursor {
  used: number
  /** The place to search the next recording from; -1 if all are used. */
  next: number
  /** The place of the recording that was used last. */
  last: number
}

/** Finds the recorded answers to the requests of one connection. Each recording is used once, in recorded order. */
export class Matcher {
  /** True if the last answer is repeated after all recordings of a request are used. */
  readonly permissive: boolean
  readonly #index: RequestIndex
  readonly #options: MatcherOptions
  /** By the first place of the request. */
  readonly #cursors = new Map<number, UsageCursor>()
  /** The place of the next recording of a notification, by its first place. */
  readonly #nextNotification = new Map<number, number>()
  /** The number of requests that were answered, where only the recorded order is accepted. */
  #usedInOrder = 0

  /** A matcher made from another one shares its recording and its options, and has nothing used yet. */
  constructor(recorded: readonly Turn[] | Turns | Matcher, options: MatcherOptions = {}) {
    const isShared = recorded instanceof Matcher
    this.#index = isShared ? recorded.#index : createIndex(recorded, options)
    this.#options = isShared ? recorded.#options : options
    this.permissive = this.#options.permissive ?? false
  }

  get comparer(): RequestComparer {
    return this.#index.comparer
  }

  /** The paths that are not compared. */
  get ignore(): readonly PathPattern[] {
    return this.comparer.ignore
  }

  /** The same recording for another connection, with nothing used yet. */
  forNewConnection(): Matcher {
    return new Matcher(this)
  }

  /** Uses the recorded turn that answers a request, or returns the reason for the miss. */
  lookup(request: ClientCall): MatchOutcome {
    const same = this.#index.requests.find(request)
    if (this.comparer.strategy.ignoresRequest && !isUncountedMethod(request.method)) {
      const hit = this.#answerNext(request, same)
      if (hit !== undefined) return hit
    }
    const live = this.comparer.matchesByKey ? undefined : this.comparer.comparable(request)
    if (live === undefined || (hasNoRules(live) && this.#hasPlayable(same))) {
      const hit = this.#answer(request, same, [same])
      return hit ?? this.#missOutcome([this.#index.recordingsOf(same)].filter((found) => found !== undefined))
    }
    const ranked = this.#rank(live)
    return this.#answer(request, same, ranked) ?? this.#missOutcome(ranked)
  }

  /** Uses the next recorded request, whatever it asks. It must be of the same server and era, and about the same consent. */
  #answerNext(request: ClientCall, same: KeyedPlaces): MatchOutcome | undefined {
    const { recordedOrder } = this.#index
    const isUsedUp = this.#usedInOrder >= recordedOrder.length
    if (isUsedUp && !this.permissive) return undefined
    const first = recordedOrder[this.#usedInOrder] ?? recordedOrder.at(-1) ?? -1
    const recorded = first < 0 ? undefined : this.#index.requestAt(first)
    if (recorded === undefined || !this.comparer.answers(recorded, request, NO_TIMES)) return undefined
    const candidate = { key: this.#index.requests.keyOf(recorded), first }
    const turn = isUsedUp ? this.#lastUsed(candidate) : this.#useNext(candidate)
    if (turn === undefined) return undefined
    if (!isUsedUp) this.#usedInOrder++
    return this.#hit(turn, candidate.key === same.key, isUsedUp)
  }

  /** Uses the next recorded turn that a notification of the client began. Notifications never miss. */
  takeNotification(notification: ClientCall): Turn | undefined {
    const { notifications } = this.#index
    const { key, first } = notifications.find(notification)
    const from = this.#nextNotification.get(first) ?? first
    const found = notifications.turnFrom(from, key, (place) => this.#index.isNotification(place))
    if (found !== undefined) this.#nextNotification.set(first, notifications.after(found.place))
    return found?.turn
  }

  /** The kinds of recorded requests, in the order of the first request of each kind. */
  kinds(): readonly RequestKind[] {
    return this.#index.kinds()
  }

  /** Every recorded request once, however often it was recorded. */
  entries(filter?: RequestFilter): readonly RequestUsage[] {
    return Array.from(this.#index.all(filter), (recordings) => this.#usageOf(recordings))
  }

  /** The recorded requests that were not used yet, in recorded order. The handshake and `ping` are not counted. */
  unconsumedKeys(): readonly RecordedRequest[] {
    return Array.from(this.#unusedPlaces(), (place) => this.#index.requestAt(place))
      .filter((request) => request !== undefined)
      .toSorted((a, b) => a.frame - b.frame)
  }

  /** The first recorded request that was not used yet. */
  next(): RecordedRequest | undefined {
    const index = this.#index
    let first: number | undefined
    for (const place of this.#unusedPlaces()) {
      if (first === undefined || index.frameAt(place) < index.frameAt(first)) first = place
      if (index.isSortedByFrame) break
    }
    return first === undefined ? undefined : index.requestAt(first)
  }

  /** Answers with the first candidate that has an answer for now. Returns `undefined` if there is none. */
  #answer(
    { method }: ClientCall,
    same: KeyedPlaces,
    candidates: readonly KeyedPlaces[],
  ): MatchOutcome | undefined {
    const isUncounted = isUncountedMethod(method)
    for (const candidate of candidates) {
      const turn = isUncounted || this.#isDue(candidate) ? this.#useNext(candidate) : undefined
      if (turn === undefined) continue
      if (!isUncounted) this.#usedInOrder++
      return this.#hit(turn, candidate.key === same.key)
    }
    const repeatsList = this.#options.repeatsLists === true && isListMethod(method)
    if (!isUncounted && !this.permissive && !repeatsList) return undefined
    for (const candidate of candidates) {
      const turn =
        this.permissive || isUncounted || this.#isUsedUp(candidate) ? this.#lastUsed(candidate) : undefined
      if (turn !== undefined) return this.#hit(turn, candidate.key === same.key, !isUncounted)
    }
    return undefined
  }

  /** Finds the reason why none of the candidates, which are sorted by rank, is an answer. */
  #missOutcome(candidates: readonly RequestRecordings[]): MatchOutcome {
    const later = this.comparer.strategy.inOrder
      ? candidates.find((one) => this.#usedOf(one) < one.playable.length)
      : undefined
    if (later !== undefined) return { kind: 'out-of-order', entry: this.#usageOf(later) }
    const used = candidates.find((one) => this.#usedOf(one) > 0)
    if (used !== undefined) return { kind: 'exhausted', entry: this.#usageOf(used) }
    const [nearest] = candidates
    if (nearest !== undefined) return { kind: 'unanswered', entry: this.#usageOf(nearest) }
    return { kind: 'unknown' }
  }

  #rank(live: ComparableRequest): readonly RequestRecordings[] {
    const { started = '', now = Date.now } = this.#options
    const startedAt = Date.parse(started)
    return this.#index.groups.rank(live, {
      now: now(),
      usedOf: (recordings) => this.#usedOf(recordings),
      frameAt: (place) => this.#index.frameAt(place),
      sentAt: (place) => startedAt + this.#index.sentAt(place),
    })
  }

  #hit(turn: Turn, isSame: boolean, repeated = false): MatchOutcome {
    if (isSame) return { kind: 'hit', turn, repeated }
    const { strategy } = this.comparer
    return { kind: 'hit', turn, repeated, loose: strategy.isLoose ? `match ${strategy.name}` : 'a rule' }
  }

  #hasPlayable({ first }: KeyedPlaces): boolean {
    let place = first
    while (place >= 0 && !this.#index.isPlayable(place)) place = this.#index.requests.after(place)
    return place >= 0
  }

  #isDue({ first }: KeyedPlaces): boolean {
    return this.comparer.strategy.inOrder !== true || this.#index.recordedOrder[this.#usedInOrder] === first
  }

  #useNext({ key, first }: KeyedPlaces): Turn | undefined {
    if (first < 0) return undefined
    const cursor = this.#cursors.get(first) ?? { used: 0, next: first, last: -1 }
    const found = this.#index.requests.turnFrom(cursor.next, key, (place) => this.#index.isPlayable(place))
    if (found === undefined) return undefined
    cursor.used++
    cursor.next = this.#index.requests.after(found.place)
    cursor.last = found.place
    this.#cursors.set(first, cursor)
    return found.turn
  }

  #isUsedUp({ first }: KeyedPlaces): boolean {
    let place = this.#cursors.get(first)?.next ?? first
    while (place >= 0 && !this.#index.isPlayable(place)) place = this.#index.requests.after(place)
    return place < 0
  }

  #lastUsed({ first }: KeyedPlaces): Turn | undefined {
    const cursor = this.#cursors.get(first)
    return cursor === undefined ? undefined : this.#index.turnAt(cursor.last)
  }

  #usedOf({ first }: KeyedPlaces): number {
    return this.#cursors.get(first)?.used ?? 0
  }

  #usageOf(recordings: RequestRecordings): RequestUsage {
    const { request, playable, unanswered, cut } = recordings
    const used = this.#usedOf(recordings)
    const next = nextPlace(recordings, used)
    const frame = next === undefined ? request.frame : this.#index.frameAt(next)
    const exchangeOf = (): number | undefined =>
      next === undefined ? request.exchange : this.#index.exchangeAt(next)
    return {
      request,
      answers: playable.length,
      used,
      frame,
      unanswered,
      cut,
      get exchange() {
        return exchangeOf()
      },
    }
  }

  *#unusedPlaces(): Generator<number> {
    const used = this.#usedPlaces()
    for (const place of this.#index.playablePlaces()) if (!used.has(place)) yield place
  }

  #usedPlaces(): ReadonlySet<number> {
    const places = new Set<number>()
    for (const [first, { next }] of this.#cursors) {
      for (let place = first; place >= 0 && place !== next; place = this.#index.requests.after(place))
        places.add(place)
    }
    return places
  }
}

/** No rule compares the times of requests that are not compared. */
const NO_TIMES = { recorded: Number.NaN, live: Number.NaN }

function createIndex(turns: readonly Turn[] | Turns, options: MatcherOptions): RequestIndex {
  return new RequestIndex(turnStoreOf(turns), { comparer: createComparer(options), server: options.server })
}

// If no rule applies to a request, only recordings with its own key can be equal to it.
function hasNoRules({ ruleValues, rules }: ComparableRequest): boolean {
  return ruleValues.length === 0 && rules.ignore.length === 0
}

import type { PathPattern } from '../json/path.ts'
import {
  nextRecording,
  rankRecordedRequests,
  type RankedRequest,
  type GroupedRecording,
  type GroupedRequest,
  type RequestGroups,
} from './request-groups.ts'
import { isUncountedMethod, type RequestContent } from './request-key.ts'
import {
  type RequestUsage,
  type Matcher,
  type MatchOutcome,
  type RecordedRequest,
  type RequestKind,
  type UsageFilter,
  distinctRequestKinds,
  ALL_REQUEST_KINDS,
  requestKindOf,
} from './matcher.ts'
import type { RequestComparer } from './request-comparer.ts'

interface StrategyMatcherOptions {
  readonly permissive: boolean
  /** When the tape was started, in milliseconds since 1970. */
  readonly started: number
  readonly now: () => number
}

/** One connection's view of the recorded requests, under any strategy and any rules. */
export class StrategyMatcher implements Matcher {
  readonly permissive: boolean
  readonly #groups: RequestGroups
  readonly #options: StrategyMatcherOptions
  readonly #used = new Map<GroupedRequest, number>()
  /** How many of the recordings in order are used, where order counts. */
  #usedInOrder = 0

  constructor(shelves: RequestGroups, options: StrategyMatcherOptions) {
    this.permissive = options.permissive
    this.#groups = shelves
    this.#options = options
  }

  get matching(): RequestComparer {
    return this.#groups.matching
  }

  get ignore(): readonly PathPattern[] {
    return this.matching.rules.flatMap(({ path, comparison }) => (comparison.leavesOut ? [path] : []))
  }

  forNewConnection(): StrategyMatcher {
    return new StrategyMatcher(this.#groups, this.#options)
  }

  lookup(asked: RequestContent): MatchOutcome {
    const fits = rankRecordedRequests(asked, {
      groups: this.#groups,
      times: { started: this.#options.started, now: this.#options.now() },
      usedOf: (shelf) => this.#usedOf(shelf),
    })
    return this.#outcomeOf(asked, fits)
  }

  kinds(): readonly RequestKind[] {
    return distinctRequestKinds(this.#groups.all().map(({ request }) => requestKindOf(request)))
  }

  entries({ isMeant }: Pick<UsageFilter, 'isMeant'> = ALL_REQUEST_KINDS): readonly RequestUsage[] {
    const shelves = this.#groups.all().filter(({ request }) => isMeant(requestKindOf(request)))
    return shelves.map((shelf) => this.#usageOf(shelf))
  }

  unconsumedKeys(): readonly RecordedRequest[] {
    const passed = new Map<GroupedRequest, number>()
    return this.#groups.inOrder.flatMap(({ shelf, request }) => {
      const place = passed.get(shelf) ?? 0
      passed.set(shelf, place + 1)
      return place < this.#usedOf(shelf) ? [] : [request]
    })
  }

  next(): RecordedRequest | undefined {
    return this.unconsumedKeys()[0]
  }

  #outcomeOf(asked: RequestContent, fits: readonly RankedRequest[]): MatchOutcome {
    const { method } = asked
    const answered = fits.map(({ recorded }) => recorded).filter(({ recordings }) => recordings.length > 0)
    const [best] = answered
    if (best === undefined) return this.#unansweredOutcome(fits)
    const due = answered.find((shelf) => this.#isDue(shelf, method))
    if (due !== undefined) return this.#use(asked, due)
    if (isUncountedMethod(method)) return this.#hit(asked, best, best.recordings.at(-1))
    const used = answered.find((shelf) => this.#usedOf(shelf) > 0)
    if (this.permissive && used !== undefined) return this.#repeat(asked, used)
    const later = answered.find((shelf) => this.#isLeft(shelf))
    if (later !== undefined) return { kind: 'out-of-order', entry: this.#usageOf(later) }
    return { kind: 'exhausted', entry: this.#usageOf(best) }
  }

  #unansweredOutcome([nearest]: readonly RankedRequest[]): MatchOutcome {
    if (nearest === undefined) return { kind: 'unknown' }
    return { kind: 'unanswered', entry: this.#usageOf(nearest.recorded) }
  }

  #isDue(shelf: GroupedRequest, method: string): boolean {
    if (this.matching.strategy.inOrder === undefined || isUncountedMethod(method)) return this.#isLeft(shelf)
    return this.#groups.inOrder[this.#usedInOrder]?.shelf === shelf
  }

  #isLeft(shelf: GroupedRequest): boolean {
    return this.#usedOf(shelf) < shelf.recordings.length
  }

  #use(asked: RequestContent, shelf: GroupedRequest): MatchOutcome {
    const recording = shelf.recordings[this.#usedOf(shelf)]
    this.#used.set(shelf, this.#usedOf(shelf) + 1)
    if (!isUncountedMethod(shelf.request.method)) this.#usedInOrder++
    return this.#hit(asked, shelf, recording)
  }

  #repeat(asked: RequestContent, shelf: GroupedRequest): MatchOutcome {
    const outcome = this.#hit(asked, shelf, shelf.recordings[this.#usedOf(shelf) - 1])
    return outcome.kind === 'hit' ? { ...outcome, repeated: true } : outcome
  }

  #hit(asked: RequestContent, shelf: GroupedRequest, recording: GroupedRecording | undefined): MatchOutcome {
    const turn = recording === undefined ? undefined : this.#groups.turnOf(recording)
    if (turn === undefined) return { kind: 'unanswered', entry: this.#usageOf(shelf) }
    const { matching } = this
    if (matching.keyOf(shelf.request) === matching.keyOf(asked)) return { kind: 'hit', turn, repeated: false }
    const loose = matching.strategy.isLoose ? `match ${matching.strategy.name}` : 'a rule'
    return { kind: 'hit', turn, repeated: false, loose }
  }

  #usedOf(shelf: GroupedRequest): number {
    return this.#used.get(shelf) ?? 0
  }

  #usageOf(shelf: GroupedRequest): RequestUsage {
    const { request, recordings, unanswered } = shelf
    const used = this.#usedOf(shelf)
    const { frame } = nextRecording(shelf, (other) => this.#usedOf(other)) ?? request
    return { request, answers: recordings.length, used, frame, unanswered }
  }
}

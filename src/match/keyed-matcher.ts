import { turnsInMemory, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { isUncountedMethod } from './freely-asked.ts'
import { parseIgnoredPaths, type RequestContent } from './request-key.ts'
import type {
  RequestUsage,
  Matcher,
  MatchOutcome,
  RecordedRequest,
  RequestKind,
  UsageFilter,
} from './matcher.ts'
import type { PathPattern } from '../json/path.ts'
import { KeyedRequests, type KeyedRecordings } from './recorded.ts'
import { ALL_REQUEST_KINDS } from './request-kinds.ts'

export interface KeyedMatcherOptions {
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. Without it, a spent request is a miss. */
  readonly permissive?: boolean
  /** Only what was sent to this server counts as recorded. */
  readonly server?: string
}

/** How far a connection has used the recordings of one request. */
interface UsageCursor {
  used: number
  /** Where to look for the next one; -1 when there is none. */
  next: number
  /** The place of the one that was used last; -1 when none was. */
  last: number
}

/** The recorded requests by their content: each is answered in the order it was recorded, whoever asks and when. */
export class KeyedMatcher implements Matcher {
  readonly ignore: readonly PathPattern[]
  readonly permissive: boolean
  readonly #options: KeyedMatcherOptions
  readonly #requests: KeyedRequests
  /** By the first place of the request. */
  readonly #cursors = new Map<number, UsageCursor>()

  constructor(turns: readonly Turn[] | TurnStore | KeyedRequests, options: KeyedMatcherOptions = {}) {
    this.#options = options
    this.ignore = parseIgnoredPaths(options.ignore ?? [])
    this.permissive = options.permissive ?? false
    this.#requests = toKeyedRequests(turns, { ignore: this.ignore, server: options.server })
  }

  forNewConnection(): KeyedMatcher {
    return new KeyedMatcher(this.#requests, this.#options)
  }

  lookup(asked: RequestContent): MatchOutcome {
    const { key, first } = this.#requests.find(asked)
    if (first < 0) return { kind: 'unknown' }
    const cursor = this.#cursors.get(first) ?? { used: 0, next: first, last: -1 }
    const found = this.#requests.turnFrom(cursor.next, key)
    if (found === undefined) return this.#outcomeWhenUsedUp(asked, key, { first, last: cursor.last })
    cursor.used++
    cursor.next = this.#requests.placeAfter(found.place)
    cursor.last = found.place
    this.#cursors.set(first, cursor)
    return { kind: 'hit', turn: found.turn, repeated: false }
  }

  kinds(): readonly RequestKind[] {
    return this.#requests.kinds()
  }

  entries(wanted: UsageFilter = ALL_REQUEST_KINDS): readonly RequestUsage[] {
    return Array.from(this.#requests.all(wanted), (recordings) => this.#usageOf(recordings.first, recordings))
  }

  unconsumedKeys(): readonly RecordedRequest[] {
    return Array.from(this.#unusedPlaces(), (place) => this.#requests.requestAt(place))
      .filter((request) => request !== undefined)
      .toSorted((a, b) => a.frame - b.frame)
  }

  next(): RecordedRequest | undefined {
    let first: number | undefined
    for (const place of this.#unusedPlaces()) {
      if (first === undefined || this.#requests.frameAt(place) < this.#requests.frameAt(first)) first = place
      if (this.#requests.isInOrder) break
    }
    return first === undefined ? undefined : this.#requests.requestAt(first)
  }

  #outcomeWhenUsedUp(
    asked: RequestContent,
    key: string,
    { first, last }: { first: number; last: number },
  ): MatchOutcome {
    const isFree = isUncountedMethod(asked.method)
    const again = isFree || this.permissive ? this.#requests.turnAt(last) : undefined
    if (again !== undefined) return { kind: 'hit', turn: again, repeated: !isFree }
    const recordings = this.#requests.recordingsFrom(first)
    if (recordings === undefined || this.#requests.keyOf(recordings.request) !== key)
      return { kind: 'unknown' }
    const kind = last < 0 ? 'unanswered' : 'exhausted'
    return { kind, entry: this.#usageOf(first, recordings) }
  }

  /** The places of what was not asked for. */
  *#unusedPlaces(): Generator<number> {
    const used = this.#usedPlaces()
    for (const place of this.#requests.playablePlaces()) if (!used.has(place)) yield place
  }

  #usedPlaces(): ReadonlySet<number> {
    const places = new Set<number>()
    for (const [first, { next }] of this.#cursors) {
      for (let at = first; at >= 0 && at !== next; at = this.#requests.placeAfter(at)) places.add(at)
    }
    return places
  }

  #usageOf(first: number, { request, playable, unanswered, cut }: KeyedRecordings): RequestUsage {
    const { used } = this.#cursors.get(first) ?? { used: 0 }
    const at = playable[used] ?? playable.at(-1)
    const frame = (at === undefined ? undefined : this.#requests.requestAt(at))?.frame ?? request.frame
    return { request, answers: playable.length, used, frame, unanswered, cut }
  }
}

function toKeyedRequests(
  turns: readonly Turn[] | TurnStore | KeyedRequests,
  options: { ignore: readonly PathPattern[]; server: string | undefined },
): KeyedRequests {
  if (turns instanceof KeyedRequests) return turns
  return new KeyedRequests('size' in turns ? turns : turnsInMemory(turns), options)
}

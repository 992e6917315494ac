import type { PathPattern } from '../json/path.ts'
import {
  type RequestUsage,
  type Matcher,
  type MatchOutcome,
  type RecordedRequest,
  type RequestKind,
  type UsageFilter,
  ALL_REQUEST_KINDS,
  distinctRequestKinds,
  requestKindInSummary,
} from './matcher.ts'
import { PlayableTurns } from './playable-turns.ts'
import {
  isUncountedMethod,
  parseIgnoredPaths,
  type RequestContent,
  requestKey,
  isMarkedImmutable,
} from './request-key.ts'
import {
  turnStoreOf,
  type Turns,
  type TurnStore,
  clientCallOf,
  type ClientCall,
  type KeyedTurns,
} from '../tape/turns.ts'
import type { Turn } from '../tape/turn.ts'

interface KeyedMatcherOptions {
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

  constructor(turns: readonly Turn[] | Turns | KeyedRequests, options: KeyedMatcherOptions = {}) {
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
  turns: readonly Turn[] | Turns | KeyedRequests,
  options: { ignore: readonly PathPattern[]; server: string | undefined },
): KeyedRequests {
  if (turns instanceof KeyedRequests) return turns
  return new KeyedRequests(turnStoreOf(turns), options)
}

/** All recordings of one request, in their order. */
interface KeyedRecordings {
  readonly request: RecordedRequest
  /** The places of those that can be played. */
  readonly playable: readonly number[]
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
  /** Those of them whose answer was cut when it was recorded. */
  readonly cut: readonly number[]
}

interface KeyLookup {
  readonly key: string
  readonly first: number
}

interface KeyedRequestsOptions {
  readonly ignore: readonly PathPattern[]
  /** Only what was sent to this server is counted. */
  readonly server?: string | undefined
}

// Those that are read and compared in full: the store can tell from afar which they are, if not in what order.
const MOST_SIMILAR_REQUESTS = 500

/** The requests of a tape by their key. It never changes, so that all connections share it. */
class KeyedRequests {
  readonly #store: TurnStore
  readonly #keyed: KeyedTurns
  readonly #playable: PlayableTurns
  readonly #keyOf: (asked: RequestContent) => string
  /** By params that nobody will change. */
  readonly #lookups = new WeakMap<object, KeyLookup & Pick<RequestContent, 'server' | 'method'>>()
  readonly #catalog: RequestCatalog

  constructor(store: TurnStore, { ignore, server }: KeyedRequestsOptions) {
    this.#store = store
    this.#keyOf = ignore.length === 0 ? requestKey : (asked) => requestKey(asked, ignore)
    this.#keyed = store.keyedBy(this.#keyOf)
    this.#playable = new PlayableTurns(store)
    this.#catalog = new RequestCatalog({ store, keyed: this.#keyed, playable: this.#playable, server })
  }

  keyOf(asked: RequestContent): string {
    return this.find(asked).key
  }

  /** The key of a request, and the first place under it; -1 when there is none. */
  find(asked: RequestContent): KeyLookup {
    const { server, method, params } = asked
    if (!isMarkedImmutable(params)) return this.#find(asked)
    const known = this.#lookups.get(params)
    if (known?.method === method && known.server === server) return known
    const found = { server, method, ...this.#find(asked) }
    this.#lookups.set(params, found)
    return found
  }

  #find(asked: RequestContent): KeyLookup {
    const key = this.#keyOf(asked)
    return { key, first: this.#keyed.first(key) }
  }

  /** The first turn that answers requests of this key, from a place on. */
  turnFrom(place: number, key: string): { readonly place: number; readonly turn: Turn } | undefined {
    for (let at = place; at >= 0; at = this.#keyed.next(at)) {
      const turn = this.#playable.has(at) ? this.#keyed.read(at, key) : undefined
      if (turn !== undefined) return { place: at, turn }
    }
    return undefined
  }

  placeAfter(place: number): number {
    return this.#keyed.next(place)
  }

  /** All requests under the key of a place; none when there is a notification under it only. */
  recordingsFrom(first: number): KeyedRecordings | undefined {
    const playable: number[] = []
    const unanswered: number[] = []
    const cut: number[] = []
    for (let at = first; at >= 0; at = this.#keyed.next(at)) {
      const { trigger, frame } = this.#store.summary(at)
      if (trigger !== 'request') continue
      if (this.#playable.has(at)) playable.push(at)
      else unanswered.push(frame)
      if (unanswered.at(-1) === frame && this.#store.at(at)?.cut !== undefined) cut.push(frame)
    }
    const request = this.requestAt(firstRequestPlace(first, { store: this.#store, keyed: this.#keyed }))
    return request === undefined ? undefined : { request, playable, unanswered, cut }
  }

  /** The kinds of the requests. */
  kinds(): readonly RequestKind[] {
    return this.#catalog.kinds()
  }

  /** Every request once, however often it was recorded; where there are too many, those that are most like one. */
  *all({ isMeant, like }: UsageFilter): Generator<KeyedRecordings & { readonly first: number }> {
    const places = this.#catalog.firstPlaces(isMeant)
    const chosen =
      like === undefined || places.length <= MOST_SIMILAR_REQUESTS
        ? places
        : this.#store.mostSimilar(requestKey(like), places, MOST_SIMILAR_REQUESTS)
    for (const first of chosen) {
      const recordings = this.recordingsFrom(first)
      if (recordings !== undefined) yield { first, ...recordings }
    }
  }

  /** The playable requests in recorded order; the handshake and `ping` do not count. */
  playablePlaces(): Generator<number> {
    return this.#catalog.playablePlaces()
  }

  turnAt(place: number): Turn | undefined {
    return place < 0 ? undefined : this.#store.at(place)
  }

  frameAt(place: number): number {
    return this.#store.summary(place).frame
  }

  /** Whether the frames of all requests are in the order of their places, as they are on most tapes. */
  get isInOrder(): boolean {
    return this.#catalog.isInOrder
  }

  /** The request at a place, its params read when they are looked at. */
  requestAt(place: number): RecordedRequest | undefined {
    return place < 0 ? undefined : this.#describe(place)
  }

  #describe(place: number): RecordedRequest | undefined {
    const { trigger, frame, server, method } = this.#store.summary(place)
    if (trigger !== 'request') return undefined
    const store = this.#store
    let called: ClientCall | undefined
    return {
      frame,
      server,
      method,
      get params() {
        called ??= clientCallOf(store.trigger(place))
        return called?.params
      },
    }
  }
}

interface RequestCatalogSource {
  readonly store: TurnStore
  readonly keyed: KeyedTurns
  readonly playable: PlayableTurns
  /** Only what was sent to this server is counted. */
  readonly server: string | undefined
}

/** What there is on a tape as a whole: its requests in their order, each of them once, and of which kinds they are. */
class RequestCatalog {
  readonly #source: RequestCatalogSource
  #kinds: readonly RequestKind[] | undefined
  #repeats: Uint8Array | undefined
  #isInOrder: boolean | undefined

  constructor(surveyed: RequestCatalogSource) {
    this.#source = surveyed
  }

  /** The kinds of the requests. */
  kinds(): readonly RequestKind[] {
    this.#kinds ??= distinctRequestKinds(this.#eachKind())
    return this.#kinds
  }

  /** The playable requests in recorded order; the handshake and `ping` do not count. */
  *playablePlaces(): Generator<number> {
    const { store, playable } = this.#source
    for (let place = 0; place < store.size; place++) {
      const { server, method } = store.summary(place)
      if (this.#isServer(server) && !isUncountedMethod(method) && playable.has(place)) yield place
    }
  }

  /** Whether the frames of all requests are in the order of their places, as they are on most tapes. */
  get isInOrder(): boolean {
    this.#isInOrder ??= this.#areFramesAscending()
    return this.#isInOrder
  }

  /** The first place of every request of some kinds. */
  firstPlaces(isMeant: UsageFilter['isMeant']): readonly number[] {
    const { store } = this.#source
    const places: number[] = []
    this.#repeats ??= this.#findRepeats()
    for (let place = 0; place < store.size; place++) {
      if (this.#repeats[place] === 1) continue
      const first = firstRequestPlace(place, this.#source)
      const summary = first < 0 ? undefined : store.summary(first)
      if (summary !== undefined && this.#isServer(summary.server) && isMeant(requestKindInSummary(summary)))
        places.push(place)
    }
    return places
  }

  *#eachKind(): Generator<RequestKind> {
    const { store } = this.#source
    for (let place = 0; place < store.size; place++) {
      const summary = store.summary(place)
      if (summary.trigger === 'request' && this.#isServer(summary.server)) yield requestKindInSummary(summary)
    }
  }

  #areFramesAscending(): boolean {
    const { store } = this.#source
    let last = 0
    for (let place = 0; place < store.size; place++) {
      const { trigger, frame } = store.summary(place)
      if (trigger !== 'request') continue
      if (frame < last) return false
      last = frame
    }
    return true
  }

  // The first of a key may stand behind the others: a store may have an order of its own.
  #findRepeats(): Uint8Array {
    const { store, keyed } = this.#source
    const later = new Uint8Array(store.size)
    for (let place = 0; place < store.size; place++) {
      const next = keyed.next(place)
      if (next >= 0) later[next] = 1
    }
    return later
  }

  #isServer(name: string): boolean {
    const { server } = this.#source
    return server === undefined || server === name
  }
}

/** The first place under a key, from one of its places on, that holds a request; -1 when none does. */
function firstRequestPlace(
  place: number,
  { store, keyed }: Pick<RequestCatalogSource, 'store' | 'keyed'>,
): number {
  let at = place
  while (at >= 0 && store.summary(at).trigger !== 'request') at = keyed.next(at)
  return at
}

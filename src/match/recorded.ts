import { clientCallOf, type ClientCall, type TurnsByKey, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { requestKey, type RequestContent } from './request-key.ts'
import { isMarkedImmutable } from './lasting.ts'
import type { RecordedRequest, RequestKind, UsageFilter } from './matcher.ts'
import type { PathPattern } from '../json/path.ts'
import { PlayableTurns } from './playable-turns.ts'
import { firstRequestPlace, RequestCatalog } from './request-survey.ts'

/** All recordings of one request, in their order. */
export interface KeyedRecordings {
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

export interface KeyedRequestsOptions {
  readonly ignore: readonly PathPattern[]
  /** Only what was sent to this server is counted. */
  readonly server?: string | undefined
}

// Those that are read and compared in full: the store can tell from afar which they are, if not in what order.
const MOST_SIMILAR_REQUESTS = 500

/** The requests of a tape by their key. It never changes, so that all connections share it. */
export class KeyedRequests {
  readonly #store: TurnStore
  readonly #keyed: TurnsByKey
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
    for (let at = place; at >= 0; at = this.#keyed.after(at)) {
      const turn = this.#playable.has(at) ? this.#store.turn(at) : undefined
      if (turn !== undefined && this.#hasKey(key, turn)) return { place: at, turn }
    }
    return undefined
  }

  placeAfter(place: number): number {
    return this.#keyed.after(place)
  }

  /** All requests under the key of a place; none when there is a notification under it only. */
  recordingsFrom(first: number): KeyedRecordings | undefined {
    const playable: number[] = []
    const unanswered: number[] = []
    const cut: number[] = []
    for (let at = first; at >= 0; at = this.#keyed.after(at)) {
      const { trigger, frame } = this.#store.outline(at)
      if (trigger !== 'request') continue
      if (this.#playable.has(at)) playable.push(at)
      else unanswered.push(frame)
      if (unanswered.at(-1) === frame && this.#store.turn(at)?.cut !== undefined) cut.push(frame)
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
    return place < 0 ? undefined : this.#store.turn(place)
  }

  frameAt(place: number): number {
    return this.#store.outline(place).frame
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
    const { trigger, frame, server, method } = this.#store.outline(place)
    if (trigger !== 'request') return undefined
    const store = this.#store
    let called: ClientCall | undefined
    return {
      frame,
      server,
      method,
      get params() {
        called ??= store.clientCall(place)
        return called?.params
      },
    }
  }

  #hasKey(key: string, turn: Turn): boolean {
    if (this.#keyed.isExact) return true
    const called = clientCallOf(turn)
    return called !== undefined && this.#keyOf(called) === key
  }
}

import type { Era } from '../protocol/revisions/revision.ts'
import {
  type KeyOf,
  clientCallOf,
  type ClientCall,
  type TurnSummary,
  type KeyedTurns,
  type TurnStore,
  type Turn,
} from '../tape/turns.ts'
import { PlayableTurns } from './playable-turns.ts'
import type { RequestComparer } from './request-comparer.ts'
import {
  RequestGroups,
  type KeyedPlaces,
  type RecordedRequest,
  type RequestRecordings,
} from './request-groups.ts'
import {
  eraOfRequest,
  isMarkedImmutable,
  isUncountedMethod,
  requestKey,
  requestKeyWithout,
} from './request-key.ts'

/** The parts of a request that are known without reading its params. */
export interface RequestKind {
  readonly server: string
  readonly method: string
  /** The tool or prompt that the request names. */
  readonly name: string | undefined
  readonly era: Era | undefined
}

export interface RequestFilter {
  readonly accepts: (kind: RequestKind) => boolean
  /** If many requests are accepted, only those most similar to this one are returned. */
  readonly like?: ClientCall
}

interface RequestIndexOptions {
  readonly comparer: RequestComparer
  /** Only requests to this server count as recorded. */
  readonly server?: string | undefined
}

// Above this number the store selects the most similar requests, because reading all of them would take too long.
const MOST_SIMILAR_REQUESTS = 500

/**
 * The requests and notifications of a tape, found by their content. The index never changes, so all connections share it.
 * The turns may be on disk: until a request needs more, only their outlines are read.
 */
export class RequestIndex {
  readonly comparer: RequestComparer
  readonly requests: KeyedCalls
  readonly #store: TurnStore
  readonly #server: string | undefined
  readonly #playable: PlayableTurns
  readonly #notificationKey: KeyOf
  readonly #sendTimes = new Map<number, number>()
  #notifications: KeyedCalls | undefined
  #groups: RequestGroups | undefined
  #recordedOrder: readonly number[] | undefined
  #kinds: readonly RequestKind[] | undefined
  #repeats: Uint8Array | undefined
  #isSortedByFrame: boolean | undefined

  constructor(store: TurnStore, { comparer, server }: RequestIndexOptions) {
    this.comparer = comparer
    this.#store = store
    this.#server = server
    this.#playable = new PlayableTurns(store)
    this.#notificationKey = requestKeyWithout(comparer.ignore)
    const usesIgnored = comparer.matchesByKey && comparer.ignore.length > 0
    this.requests = new KeyedCalls(store, usesIgnored ? this.#notificationKey : comparer.keyOf)
  }

  /** The notifications of the client. Ignored paths are not part of their keys. */
  get notifications(): KeyedCalls {
    this.#notifications ??=
      this.requests.keyOf === this.#notificationKey
        ? this.requests
        : new KeyedCalls(this.#store, this.#notificationKey)
    return this.#notifications
  }

  /** The recorded requests in groups whose members may answer each other. */
  get groups(): RequestGroups {
    this.#groups ??= new RequestGroups(this.all(), this.comparer)
    return this.#groups
  }

  /** For each playable request, in recorded order, the first place under its key. */
  get recordedOrder(): readonly number[] {
    this.#recordedOrder ??= Array.from(this.all(), ({ first, playable, request }) =>
      isUncountedMethod(request.method)
        ? []
        : playable.map((place) => ({ first, frame: this.frameAt(place) })),
    )
      .flat()
      .toSorted((a, b) => a.frame - b.frame)
      .map(({ first }) => first)
    return this.#recordedOrder
  }

  /** Every request once, however often it was recorded. */
  *all({ accepts, like }: RequestFilter = ALL_REQUESTS): Generator<RequestRecordings> {
    const places = this.#firstPlaces(accepts)
    const chosen =
      like === undefined || places.length <= MOST_SIMILAR_REQUESTS
        ? places
        : this.#store.mostSimilar(requestKey(like), places, MOST_SIMILAR_REQUESTS)
    for (const place of chosen) {
      const recordings = this.#recordingsFrom(this.#firstPlaceFor(place))
      if (recordings !== undefined) yield recordings
    }
  }

  /** All recordings of the request with this key. Returns `undefined` if no request has it. */
  recordingsOf({ key, first }: KeyedPlaces): RequestRecordings | undefined {
    const recordings = this.#recordingsFrom(first)
    return recordings?.key === key ? recordings : undefined
  }

  #recordingsFrom(first: number): RequestRecordings | undefined {
    const playable: number[] = []
    const unanswered: number[] = []
    const cut: number[] = []
    let request: RecordedRequest | undefined
    for (let place = first; place >= 0; place = this.requests.after(place)) {
      const { trigger, frame } = this.#store.summary(place)
      if (trigger !== 'request') continue
      request ??= this.requestAt(place)
      if (this.#playable.has(place)) playable.push(place)
      else unanswered.push(frame)
      if (unanswered.at(-1) === frame && this.#store.at(place)?.cut !== undefined) cut.push(frame)
    }
    return request && withKey({ first, request, playable, unanswered, cut }, this.requests.keyOf)
  }

  /** The kinds of the requests, in the order of the first request of each kind. */
  kinds(): readonly RequestKind[] {
    this.#kinds ??= this.#findKinds()
    return this.#kinds
  }

  /** The places of the playable requests. Methods that are not counted, such as `ping`, are skipped. */
  *playablePlaces(): Generator<number> {
    for (let place = 0; place < this.#store.size; place++) {
      const { server, method } = this.#store.summary(place)
      if (this.#isServer(server) && !isUncountedMethod(method) && this.#playable.has(place)) yield place
    }
  }

  /** True if the frames of all requests are in the order of their places, as on most tapes. */
  get isSortedByFrame(): boolean {
    this.#isSortedByFrame ??= this.#areFramesAscending()
    return this.#isSortedByFrame
  }

  isPlayable(place: number): boolean {
    return this.#playable.has(place)
  }

  isNotification(place: number): boolean {
    return this.#store.summary(place).trigger === 'notification'
  }

  turnAt(place: number): Turn | undefined {
    return this.#store.at(place)
  }

  frameAt(place: number): number {
    return this.#store.summary(place).frame
  }

  exchangeAt(place: number): number | undefined {
    return this.#store.exchangeOf(place)
  }

  /** When the request at a place was sent, in milliseconds from the start of the tape. */
  sentAt(place: number): number {
    const sent = this.#sendTimes.get(place) ?? this.#store.trigger(place)?.t ?? Number.NaN
    this.#sendTimes.set(place, sent)
    return sent
  }

  /** The request at a place; its params are read when they are first used. */
  requestAt(place: number): RecordedRequest | undefined {
    const store = this.#store
    const { trigger, frame, server, method } = store.summary(place)
    if (trigger !== 'request') return undefined
    let call: ClientCall | undefined
    return {
      frame,
      server,
      method,
      get exchange() {
        return store.exchangeOf(place)
      },
      get params() {
        call ??= clientCallOf(store.trigger(place))
        return call?.params
      },
    }
  }

  /** For every accepted request one of the places under its key. */
  #firstPlaces(accepts: RequestFilter['accepts']): readonly number[] {
    const places: number[] = []
    this.#repeats ??= this.#findRepeats()
    for (let place = 0; place < this.#store.size; place++) {
      if (this.#repeats[place] === 1) continue
      const first = this.#firstRequestPlace(place)
      const summary = first < 0 ? undefined : this.#store.summary(first)
      if (summary !== undefined && this.#isServer(summary.server) && accepts(requestKindOf(summary)))
        places.push(place)
    }
    return places
  }

  /** The first place under the key of a place. Reads the request only if there are several places. */
  #firstPlaceFor(place: number): number {
    const request =
      this.requests.after(place) < 0 ? undefined : this.requestAt(this.#firstRequestPlace(place))
    return request === undefined ? place : this.requests.find(request).first
  }

  // The first place under a key may come after the others, because a store may prefer some turns.
  #findRepeats(): Uint8Array {
    const repeats = new Uint8Array(this.#store.size)
    for (let place = 0; place < this.#store.size; place++) {
      const next = this.requests.after(place)
      if (next >= 0) repeats[next] = 1
    }
    return repeats
  }

  #firstRequestPlace(first: number): number {
    let place = first
    while (place >= 0 && this.#store.summary(place).trigger !== 'request') place = this.requests.after(place)
    return place
  }

  #findKinds(): readonly RequestKind[] {
    const kinds: RequestKind[] = []
    // Few requests share a name but differ otherwise. Joining the parts of a kind into one key is slow on a long tape.
    const byName = new Map<string | undefined, RequestKind[]>()
    for (let place = 0; place < this.#store.size; place++) {
      const summary = this.#store.summary(place)
      if (summary.trigger !== 'request' || !this.#isServer(summary.server)) continue
      const kind = requestKindOf(summary)
      const known = byName.get(kind.name) ?? []
      if (known.some((other) => isSameKind(other, kind))) continue
      known.push(kind)
      kinds.push(kind)
      byName.set(kind.name, known)
    }
    return kinds
  }

  #areFramesAscending(): boolean {
    let last = 0
    for (let place = 0; place < this.#store.size; place++) {
      const { trigger, frame } = this.#store.summary(place)
      if (trigger !== 'request') continue
      if (frame < last) return false
      last = frame
    }
    return true
  }

  #isServer(name: string): boolean {
    return this.#server === undefined || this.#server === name
  }
}

const ALL_REQUESTS: RequestFilter = { accepts: () => true }

function requestKindOf({ server, method, name, enveloped }: TurnSummary): RequestKind {
  return { server, method, name, era: eraOfRequest(method, enveloped) }
}

export function isSameKind(one: RequestKind, other: RequestKind): boolean {
  return (
    one.method === other.method &&
    one.name === other.name &&
    one.server === other.server &&
    one.era === other.era
  )
}

/** Adds the key, which is computed when it is used. */
function withKey(recordings: Omit<RequestRecordings, 'key'>, keyOf: KeyOf): RequestRecordings {
  return {
    ...recordings,
    get key() {
      return keyOf(recordings.request)
    },
  }
}

/** The turns of a tape by the key of the request or notification that began them. */
class KeyedCalls {
  readonly keyOf: KeyOf
  readonly #turns: KeyedTurns
  /** By params that are marked as immutable. */
  readonly #known = new WeakMap<object, KeyedPlaces & Pick<ClientCall, 'server' | 'method'>>()

  constructor(store: TurnStore, keyOf: KeyOf) {
    this.keyOf = keyOf
    this.#turns = store.keyedBy(keyOf)
  }

  /** The key of a request or notification, and the first place under it; -1 if there is none. */
  find(call: ClientCall): KeyedPlaces {
    const { server, method, params } = call
    if (!isMarkedImmutable(params)) return this.#find(call)
    const known = this.#known.get(params)
    if (known?.method === method && known.server === server) return known
    const found = { server, method, ...this.#find(call) }
    this.#known.set(params, found)
    return found
  }

  /** The next place under the key of a place; -1 if it is the last one. */
  after(place: number): number {
    return this.#turns.next(place)
  }

  /** The first accepted turn under a key, searched from one of its places on. */
  turnFrom(first: number, key: string, accepts: (place: number) => boolean): PlacedTurn | undefined {
    for (let place = first; place >= 0; place = this.after(place)) {
      const turn = accepts(place) ? this.#turns.read(place, key) : undefined
      if (turn !== undefined) return { place, turn }
    }
    return undefined
  }

  #find(call: ClientCall): KeyedPlaces {
    const key = this.keyOf(call)
    return { key, first: this.#turns.first(key, this.keyOf === requestKey ? call.method : undefined) }
  }
}

interface PlacedTurn {
  readonly place: number
  readonly turn: Turn
}

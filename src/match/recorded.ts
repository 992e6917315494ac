import { calledIn, type KeyedPlaces, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { requestKey, type Asked } from './key.ts'
import { isLasting } from './lasting.ts'
import type { RecordedRequest } from './matcher.ts'
import type { Path } from '../wire/path.ts'
import { PlayablePlaces } from './playable.ts'

/** All recordings of one request, in their order. */
export interface Recordings {
  readonly request: RecordedRequest
  /** The places of those that can be played. */
  readonly playable: readonly number[]
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
  /** Those of them whose answer was cut when it was recorded. */
  readonly cut: readonly number[]
}

interface Found {
  readonly key: string
  readonly first: number
}

export interface RecordedOptions {
  readonly ignore: readonly Path[]
  /** Only what was sent to this server is counted. */
  readonly server?: string | undefined
}

/** The requests of a tape by their key. It never changes, so that all connections share it. */
export class Recorded {
  readonly #store: TurnStore
  readonly #keyed: KeyedPlaces
  readonly #playable: PlayablePlaces
  readonly #keyOf: (asked: Asked) => string
  /** By params that nobody will change. */
  readonly #found = new WeakMap<object, Found & Pick<Asked, 'server' | 'method'>>()
  readonly #requests = new Map<number, RecordedRequest>()
  readonly #server: string | undefined

  constructor(store: TurnStore, { ignore, server }: RecordedOptions) {
    this.#store = store
    this.#server = server
    this.#keyOf = ignore.length === 0 ? requestKey : (asked) => requestKey(asked, ignore)
    this.#keyed = store.keyedBy(this.#keyOf)
    this.#playable = new PlayablePlaces(store)
  }

  keyOf(asked: Asked): string {
    return this.find(asked).key
  }

  /** The key of a request, and the first place under it; -1 when there is none. */
  find(asked: Asked): Found {
    const { server, method, params } = asked
    if (!isLasting(params)) return this.#find(asked)
    const known = this.#found.get(params)
    if (known?.method === method && known.server === server) return known
    const found = { server, method, ...this.#find(asked) }
    this.#found.set(params, found)
    return found
  }

  #find(asked: Asked): Found {
    const key = this.#keyOf(asked)
    return { key, first: this.#keyed.first(key) }
  }

  /** The first turn that answers requests of this key, from a place on. */
  turnFrom(place: number, key: string): { readonly place: number; readonly turn: Turn } | undefined {
    for (let at = place; at >= 0; at = this.#keyed.after(at)) {
      const turn = this.#playable.has(at) ? this.#store.turn(at) : undefined
      if (turn !== undefined && this.#isUnder(key, turn)) return { place: at, turn }
    }
    return undefined
  }

  after(place: number): number {
    return this.#keyed.after(place)
  }

  /** All requests under the key of a place; none when there is a notification under it only. */
  from(first: number): Recordings | undefined {
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
    const request = this.requestAt(this.#firstRequest(first))
    return request === undefined ? undefined : { request, playable, unanswered, cut }
  }

  /** Every request once, however often it was recorded. */
  *all(): Generator<Recordings & { readonly first: number }> {
    const later = this.#laterPlaces()
    for (let first = 0; first < this.#store.size; first++) {
      const recordings = later[first] === 1 || !this.#counts(first) ? undefined : this.from(first)
      if (recordings !== undefined) yield { first, ...recordings }
    }
  }

  /** The playable requests in recorded order. */
  *requests(): Generator<number> {
    for (let place = 0; place < this.#store.size; place++) {
      if (this.#counts(place) && this.#playable.has(place)) yield place
    }
  }

  /** The request at a place, its params read when they are looked at; the same object each time. */
  requestAt(place: number): RecordedRequest | undefined {
    const known = this.#requests.get(place)
    if (known !== undefined || place < 0) return known
    const request = this.#describe(place)
    if (request !== undefined) this.#requests.set(place, request)
    return request
  }

  // The first of a key may stand behind the others: a store may have an order of its own.
  #laterPlaces(): Uint8Array {
    const later = new Uint8Array(this.#store.size)
    for (let place = 0; place < this.#store.size; place++) {
      const next = this.#keyed.after(place)
      if (next >= 0) later[next] = 1
    }
    return later
  }

  #counts(place: number): boolean {
    return this.#server === undefined || this.#store.outline(place).server === this.#server
  }

  #firstRequest(first: number): number {
    let at = first
    while (at >= 0 && this.#store.outline(at).trigger !== 'request') at = this.#keyed.after(at)
    return at
  }

  #describe(place: number): RecordedRequest | undefined {
    const { trigger, frame, server, method } = this.#store.outline(place)
    if (trigger !== 'request') return undefined
    const store = this.#store
    return {
      frame,
      server,
      method,
      get params() {
        return store.called(place)?.params
      },
    }
  }

  #isUnder(key: string, turn: Turn): boolean {
    if (this.#keyed.isExact) return true
    const called = calledIn(turn)
    return called !== undefined && this.#keyOf(called) === key
  }
}

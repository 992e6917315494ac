import type { KeyedPlaces, TurnStore } from '../tape/turn-store.ts'
import { isFreelyAsked } from './freely-asked.ts'
import type { RequestKind, WantedEntries } from './matcher.ts'
import type { PlayablePlaces } from './playable.ts'
import { distinctKinds, kindIn } from './request-kinds.ts'

export interface SurveyedStore {
  readonly store: TurnStore
  readonly keyed: KeyedPlaces
  readonly playable: PlayablePlaces
  /** Only what was sent to this server is counted. */
  readonly server: string | undefined
}

/** What there is on a tape as a whole: its requests in their order, each of them once, and of which kinds they are. */
export class RequestSurvey {
  readonly #surveyed: SurveyedStore
  #kinds: readonly RequestKind[] | undefined
  #later: Uint8Array | undefined
  #isInOrder: boolean | undefined

  constructor(surveyed: SurveyedStore) {
    this.#surveyed = surveyed
  }

  /** The kinds of the requests. */
  kinds(): readonly RequestKind[] {
    this.#kinds ??= distinctKinds(this.#eachKind())
    return this.#kinds
  }

  /** The playable requests in recorded order; the handshake and `ping` do not count. */
  *inOrder(): Generator<number> {
    const { store, playable } = this.#surveyed
    for (let place = 0; place < store.size; place++) {
      const { server, method } = store.outline(place)
      if (this.#isServer(server) && !isFreelyAsked(method) && playable.has(place)) yield place
    }
  }

  /** Whether the frames of all requests are in the order of their places, as they are on most tapes. */
  get isInOrder(): boolean {
    this.#isInOrder ??= this.#areFramesAscending()
    return this.#isInOrder
  }

  /** The first place of every request of some kinds. */
  firsts(isMeant: WantedEntries['isMeant']): readonly number[] {
    const { store } = this.#surveyed
    const places: number[] = []
    this.#later ??= this.#laterPlaces()
    for (let place = 0; place < store.size; place++) {
      if (this.#later[place] === 1) continue
      const first = firstRequest(place, this.#surveyed)
      const outline = first < 0 ? undefined : store.outline(first)
      if (outline !== undefined && this.#isServer(outline.server) && isMeant(kindIn(outline)))
        places.push(place)
    }
    return places
  }

  *#eachKind(): Generator<RequestKind> {
    const { store } = this.#surveyed
    for (let place = 0; place < store.size; place++) {
      const outline = store.outline(place)
      if (outline.trigger === 'request' && this.#isServer(outline.server)) yield kindIn(outline)
    }
  }

  #areFramesAscending(): boolean {
    const { store } = this.#surveyed
    let last = 0
    for (let place = 0; place < store.size; place++) {
      const { trigger, frame } = store.outline(place)
      if (trigger !== 'request') continue
      if (frame < last) return false
      last = frame
    }
    return true
  }

  // The first of a key may stand behind the others: a store may have an order of its own.
  #laterPlaces(): Uint8Array {
    const { store, keyed } = this.#surveyed
    const later = new Uint8Array(store.size)
    for (let place = 0; place < store.size; place++) {
      const next = keyed.after(place)
      if (next >= 0) later[next] = 1
    }
    return later
  }

  #isServer(name: string): boolean {
    const { server } = this.#surveyed
    return server === undefined || server === name
  }
}

/** The first place under a key, from one of its places on, that holds a request; -1 when none does. */
export function firstRequest(
  place: number,
  { store, keyed }: Pick<SurveyedStore, 'store' | 'keyed'>,
): number {
  let at = place
  while (at >= 0 && store.outline(at).trigger !== 'request') at = keyed.after(at)
  return at
}

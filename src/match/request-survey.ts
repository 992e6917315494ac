import type { TurnsByKey, TurnStore } from '../tape/turn-store.ts'
import { isUncountedMethod } from './freely-asked.ts'
import type { RequestKind, UsageFilter } from './matcher.ts'
import type { PlayableTurns } from './playable-turns.ts'
import { distinctRequestKinds, requestKindInOutline } from './request-kinds.ts'

export interface RequestCatalogSource {
  readonly store: TurnStore
  readonly keyed: TurnsByKey
  readonly playable: PlayableTurns
  /** Only what was sent to this server is counted. */
  readonly server: string | undefined
}

/** What there is on a tape as a whole: its requests in their order, each of them once, and of which kinds they are. */
export class RequestCatalog {
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
      const { server, method } = store.outline(place)
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
      const outline = first < 0 ? undefined : store.outline(first)
      if (outline !== undefined && this.#isServer(outline.server) && isMeant(requestKindInOutline(outline)))
        places.push(place)
    }
    return places
  }

  *#eachKind(): Generator<RequestKind> {
    const { store } = this.#source
    for (let place = 0; place < store.size; place++) {
      const outline = store.outline(place)
      if (outline.trigger === 'request' && this.#isServer(outline.server)) yield requestKindInOutline(outline)
    }
  }

  #areFramesAscending(): boolean {
    const { store } = this.#source
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
  #findRepeats(): Uint8Array {
    const { store, keyed } = this.#source
    const later = new Uint8Array(store.size)
    for (let place = 0; place < store.size; place++) {
      const next = keyed.after(place)
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
export function firstRequestPlace(
  place: number,
  { store, keyed }: Pick<RequestCatalogSource, 'store' | 'keyed'>,
): number {
  let at = place
  while (at >= 0 && store.outline(at).trigger !== 'request') at = keyed.after(at)
  return at
}

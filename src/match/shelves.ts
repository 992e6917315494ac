import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { Form } from './form.ts'
import { isFreelyAsked } from './freely-asked.ts'
import type { RecordedRequest } from './matcher.ts'
import type { Matching } from './matching.ts'
import { PlayablePlaces } from './playable.ts'

/** All recordings of one request, in their order, and the request as it is compared. */
export interface Shelf {
  readonly request: RecordedRequest
  readonly form: Form
  /** Those that can be played. */
  readonly recordings: readonly Recording[]
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
}

export interface Recording {
  readonly place: number
  readonly frame: number
}

export interface ShelvesOptions {
  readonly matching: Matching
  /** Only what was sent to this server counts as recorded. */
  readonly server: string | undefined
}

/** The requests of a tape, by what a way of matching lets answer what. They never change: all connections share them. */
export class Shelves {
  readonly matching: Matching
  /** The shelf of each recording, in recorded order; the handshake and `ping` do not count. */
  readonly inOrder: readonly { readonly shelf: Shelf; readonly request: RecordedRequest }[]
  readonly #store: TurnStore
  readonly #times = new Map<number, number>()
  readonly #byKey = new Map<string, GrowingShelf>()
  readonly #byGroup = new Map<string, Shelf[]>()

  constructor(store: TurnStore, { matching, server }: ShelvesOptions) {
    this.matching = matching
    this.#store = store
    this.inOrder = this.#filled(server).toSorted((a, b) => a.request.frame - b.request.frame)
  }

  ofKey(key: string): Shelf | undefined {
    return this.#byKey.get(key)
  }

  ofGroup(group: string): readonly Shelf[] {
    return this.#byGroup.get(group) ?? []
  }

  all(): readonly Shelf[] {
    return [...this.#byKey.values()]
  }

  turnOf({ place }: Recording): Turn | undefined {
    return this.#store.turn(place)
  }

  /** When the request was sent, in milliseconds from the start of the tape. */
  timeOf({ place }: Recording): number {
    const known = this.#times.get(place) ?? this.#store.turn(place)?.trigger?.t ?? Number.NaN
    this.#times.set(place, known)
    return known
  }

  #filled(server: string | undefined): Shelves['inOrder'][number][] {
    const playable = new PlayablePlaces(this.#store)
    const inOrder: Shelves['inOrder'][number][] = []
    for (let place = 0; place < this.#store.size; place++) {
      const { trigger, server: asked, method } = this.#store.outline(place)
      if (trigger !== 'request' || (server !== undefined && asked !== server)) continue
      const added = this.#add(place, playable.has(place))
      if (added !== undefined && playable.has(place) && !isFreelyAsked(method)) inOrder.push(added)
    }
    return inOrder
  }

  #add(place: number, isPlayable: boolean): Shelves['inOrder'][number] | undefined {
    const called = this.#store.called(place)
    const { frame } = this.#store.outline(place)
    if (called === undefined) return undefined
    const request: RecordedRequest = { frame, ...called }
    const shelf = this.#shelfFor(request)
    if (isPlayable) shelf.recordings.push({ place, frame })
    else shelf.unanswered.push(frame)
    return { shelf, request }
  }

  #shelfFor(request: RecordedRequest): GrowingShelf {
    const key = this.matching.keyOf(request)
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const form = this.matching.formOf(request)
    const shelf: GrowingShelf = { request, form, recordings: [], unanswered: [] }
    this.#byKey.set(key, shelf)
    this.#group(shelf)
    return shelf
  }

  #group(shelf: Shelf): void {
    const group = this.matching.groupOf(shelf.form)
    const known = this.#byGroup.get(group)
    if (known === undefined) this.#byGroup.set(group, [shelf])
    else known.push(shelf)
  }
}

interface GrowingShelf extends Shelf {
  readonly recordings: Recording[]
  readonly unanswered: number[]
}

import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { ComparableRequest } from './comparable-request.ts'
import { isUncountedMethod } from './freely-asked.ts'
import type { RecordedRequest } from './matcher.ts'
import type { RequestComparer } from './request-comparer.ts'
import { PlayableTurns } from './playable-turns.ts'

/** All recordings of one request, in their order, and the request as it is compared. */
export interface GroupedRequest {
  readonly request: RecordedRequest
  readonly comparable: ComparableRequest
  /** Those that can be played. */
  readonly recordings: readonly GroupedRecording[]
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
}

export interface GroupedRecording {
  readonly place: number
  readonly frame: number
}

export interface RequestGroupsOptions {
  readonly matching: RequestComparer
  /** Only what was sent to this server counts as recorded. */
  readonly server: string | undefined
}

/** The requests of a tape, by what a way of matching lets answer what. They never change: all connections share them. */
export class RequestGroups {
  readonly matching: RequestComparer
  /** The shelf of each recording, in recorded order; the handshake and `ping` do not count. */
  readonly inOrder: readonly { readonly shelf: GroupedRequest; readonly request: RecordedRequest }[]
  readonly #store: TurnStore
  readonly #times = new Map<number, number>()
  readonly #byKey = new Map<string, MutableGroupedRequest>()
  readonly #byGroup = new Map<string, GroupedRequest[]>()

  constructor(store: TurnStore, { matching, server }: RequestGroupsOptions) {
    this.matching = matching
    this.#store = store
    this.inOrder = this.#build(server).toSorted((a, b) => a.request.frame - b.request.frame)
  }

  withKey(key: string): GroupedRequest | undefined {
    return this.#byKey.get(key)
  }

  inGroup(group: string): readonly GroupedRequest[] {
    return this.#byGroup.get(group) ?? []
  }

  all(): readonly GroupedRequest[] {
    return [...this.#byKey.values()]
  }

  turnOf({ place }: GroupedRecording): Turn | undefined {
    return this.#store.turn(place)
  }

  /** When the request was sent, in milliseconds from the start of the tape. */
  timeOf({ place }: GroupedRecording): number {
    const known = this.#times.get(place) ?? this.#store.turn(place)?.trigger?.t ?? Number.NaN
    this.#times.set(place, known)
    return known
  }

  #build(server: string | undefined): RequestGroups['inOrder'][number][] {
    const playable = new PlayableTurns(this.#store)
    const inOrder: RequestGroups['inOrder'][number][] = []
    for (let place = 0; place < this.#store.size; place++) {
      const { trigger, server: asked, method } = this.#store.outline(place)
      if (trigger !== 'request' || (server !== undefined && asked !== server)) continue
      const added = this.#add(place, playable.has(place))
      if (added !== undefined && playable.has(place) && !isUncountedMethod(method)) inOrder.push(added)
    }
    return inOrder
  }

  #add(place: number, isPlayable: boolean): RequestGroups['inOrder'][number] | undefined {
    const called = this.#store.clientCall(place)
    const { frame } = this.#store.outline(place)
    if (called === undefined) return undefined
    const request: RecordedRequest = { frame, ...called }
    const shelf = this.#requestFor(request)
    if (isPlayable) shelf.recordings.push({ place, frame })
    else shelf.unanswered.push(frame)
    return { shelf, request }
  }

  #requestFor(request: RecordedRequest): MutableGroupedRequest {
    const key = this.matching.keyOf(request)
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const comparable = this.matching.comparable(request)
    const shelf: MutableGroupedRequest = { request, comparable, recordings: [], unanswered: [] }
    this.#byKey.set(key, shelf)
    this.#addToGroup(shelf)
    return shelf
  }

  #addToGroup(shelf: GroupedRequest): void {
    const group = this.matching.groupKeyOf(shelf.comparable)
    const known = this.#byGroup.get(group)
    if (known === undefined) this.#byGroup.set(group, [shelf])
    else known.push(shelf)
  }
}

interface MutableGroupedRequest extends GroupedRequest {
  readonly recordings: GroupedRecording[]
  readonly unanswered: number[]
}

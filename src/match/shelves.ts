import type { Turn } from '../tape/turn.ts'
import { isFreelyAsked } from './freely-asked.ts'
import type { Form } from './form.ts'
import type { RecordedRequest } from './matcher.ts'
import type { Matching } from './matching.ts'
import { playableTurns } from './playable.ts'
import { requestOf } from './recorded.ts'

/** All recordings of one request, in their order, and the request as it is compared. */
export interface Shelf {
  readonly request: RecordedRequest
  readonly form: Form
  /** Those that can be played. */
  readonly turns: readonly Turn[]
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
}

/** One recording that can be played, on its shelf. */
export interface Playable {
  readonly shelf: Shelf
  readonly request: RecordedRequest
}

/** The requests of a tape, by what a way of matching lets answer what. They never change: all connections share them. */
export class Shelves {
  readonly matching: Matching
  /** What a session asks for, in recorded order; the handshake and `ping` do not count. */
  readonly inOrder: readonly Playable[]
  readonly #byKey = new Map<string, GrowingShelf>()
  readonly #byGroup = new Map<string, Shelf[]>()

  constructor(turns: readonly Turn[], matching: Matching) {
    this.matching = matching
    const playable = playableTurns(turns)
    const inOrder = turns.flatMap((turn) => this.#add(turn, playable.has(turn)))
    this.inOrder = inOrder.toSorted((a, b) => a.request.frame - b.request.frame)
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

  #add(turn: Turn, isPlayable: boolean): readonly Playable[] {
    const request = requestOf(turn)
    if (request === undefined) return []
    const shelf = this.#shelfFor(request)
    if (isPlayable) shelf.turns.push(turn)
    else shelf.unanswered.push(request.frame)
    return isPlayable && !isFreelyAsked(request.method) ? [{ shelf, request }] : []
  }

  #shelfFor(request: RecordedRequest): GrowingShelf {
    const key = this.matching.keyOf(request)
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const form = this.matching.formOf(request)
    const shelf: GrowingShelf = { request, form, turns: [], unanswered: [] }
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
  readonly turns: Turn[]
  readonly unanswered: number[]
}

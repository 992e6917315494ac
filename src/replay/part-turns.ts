import { turnsInMemory, type TurnOutline, type RecordedTurns } from '../tape/turn-store.ts'
import type { RecordedMessage, Turn } from '../tape/turn.ts'

/** The turns that a client of one server set off, and what was added to them. */
export class ServerPartTurns implements RecordedTurns {
  readonly size: number
  readonly #all: RecordedTurns
  /** The places of those that are meant; undefined when all are. */
  readonly #places: Uint32Array | undefined
  readonly #added: RecordedTurns
  readonly #own: number

  constructor(all: RecordedTurns, places: Uint32Array | undefined, added: readonly Turn[] = []) {
    this.#all = all
    this.#places = places
    this.#added = turnsInMemory(added)
    this.#own = places?.length ?? all.size
    this.size = this.#own + added.length
  }

  /** With further turns behind its own. */
  with(added: readonly Turn[]): RecordedTurns {
    return added.length === 0 ? this : new ServerPartTurns(this.#all, this.#places, added)
  }

  outline(place: number): TurnOutline {
    return place < this.#own
      ? this.#all.outline(this.#placeOf(place))
      : this.#added.outline(place - this.#own)
  }

  turn(place: number): Turn | undefined {
    return place < this.#own ? this.#all.turn(this.#placeOf(place)) : this.#added.turn(place - this.#own)
  }

  trigger(place: number): RecordedMessage | undefined {
    return place < this.#own
      ? this.#all.trigger(this.#placeOf(place))
      : this.#added.trigger(place - this.#own)
  }

  *[Symbol.iterator](): Generator<Turn> {
    for (let place = 0; place < this.size; place++) {
      const turn = this.turn(place)
      if (turn !== undefined) yield turn
    }
  }

  #placeOf(place: number): number {
    return this.#places === undefined ? place : (this.#places[place] ?? -1)
  }
}

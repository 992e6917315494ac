import { requestKey } from '../match/key.ts'
import {
  calledIn,
  type Called,
  type Glance,
  type KeyedPlaces,
  type Outline,
  type TurnKind,
  type TurnStore,
} from '../tape/turn-store.ts'
import type { Spoken, Turn } from '../tape/turn.ts'
import { hashText } from './hash.ts'
import { kindsOf, outlineIn } from './indexed-outlines.ts'
import { JsonHash } from './json-hash.ts'
import { buildKeyTable, firstUnder, heldTable, nextUnder } from './key-table.ts'
import type { LineFile } from './line-file.ts'
import { bitsIn, mostShared } from './most-shared.ts'
import { HeldColumn } from './number-column.ts'
import { RecentTurns } from './recent-turns.ts'
import type { TapeIndex } from './tape-index.ts'
import { TurnReader } from './turn-reader.ts'

/** The turns of a tape on disk. Its index may be anyone's work: nothing is taken from a line that is not what the index says. */
export class IndexedTurns implements TurnStore {
  readonly size: number
  readonly #index: TapeIndex
  readonly #file: LineFile
  readonly #reader: TurnReader
  readonly #recent = new RecentTurns()
  readonly #hash = new JsonHash()
  #kinds: readonly TurnKind[] | undefined

  constructor(index: TapeIndex, file: LineFile) {
    this.size = index.turns
    this.#index = index
    this.#file = file
    this.#reader = new TurnReader(index, file)
  }

  outline(place: number): Outline {
    return outlineIn(this.#index, place)
  }

  kinds(): readonly TurnKind[] {
    this.#kinds ??= kindsOf(this.#index)
    return this.#kinds
  }

  turn(place: number): Turn | undefined {
    const known = this.#recent.get(place)
    if (known !== undefined) return known
    const turn = this.#reader.turn(place)
    if (turn !== undefined) this.#recent.add(place, turn)
    return turn
  }

  trigger(place: number): Spoken | undefined {
    return this.#reader.trigger(place)
  }

  called(place: number): Called | undefined {
    return calledIn({ trigger: this.trigger(place) })
  }

  mostAlike(key: string, places: readonly number[], most: number): readonly number[] {
    this.#hash.ofCanonical(key)
    const { sketch } = this.#hash
    return mostShared(places, (place) => bitsIn(sketch & this.#index.sketch.at(place)), most)
  }

  glance(place: number, text: string): Glance | undefined {
    const length = this.#index.responseLength.at(place)
    if (length === 0) return this.#longGlance(place, text)
    const line = this.#file.read(this.#index.responseAt.at(place), length)
    return line === undefined ? undefined : { length, mayHold: line.includes(text) }
  }

  keyedBy(keyOf: (called: Called) => string): KeyedPlaces {
    const hashes = keyOf === requestKey ? this.#index : this.#rehashed(keyOf)
    const table = keyOf === requestKey ? this.#index : heldTable(buildKeyTable(hashes))
    return {
      isExact: false,
      first: (key) =>
        firstUnder(table, hashes, keyOf === requestKey ? this.#hash.ofCanonical(key) : hashText(key)),
      after: (place) => nextUnder(table, place),
    }
  }

  *[Symbol.iterator](): Generator<Turn> {
    for (let place = 0; place < this.size; place++) {
      const turn = this.turn(place)
      if (turn !== undefined) yield turn
    }
  }

  /** Other keys than those in the index: every call of the client is read once. */
  #rehashed(keyOf: (called: Called) => string): Pick<TapeIndex, 'hashLow' | 'hashHigh' | 'mark'> {
    const hashLow = new Uint32Array(this.size)
    const hashHigh = new Uint32Array(this.size)
    for (let place = 0; place < this.size; place++) {
      const called = this.called(place)
      const { low, high } = called === undefined ? { low: 0, high: 0 } : hashText(keyOf(called))
      hashLow[place] = low
      hashHigh[place] = high
    }
    return { hashLow: new HeldColumn(hashLow), hashHigh: new HeldColumn(hashHigh), mark: this.#index.mark }
  }

  /** Of an answer that came after other steps. */
  #longGlance(place: number, text: string): Glance | undefined {
    const said = this.turn(place)?.response?.text
    return said === undefined ? undefined : { length: said.length, mayHold: said.includes(text) }
  }
}

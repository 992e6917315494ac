import { hashText, JsonHasher } from '../../json/hash.ts'
import { requestKey } from '../../match/request-key.ts'
import { ArrayColumn } from '../columns.ts'
import { buildKeyTable, firstTurnWithHash, inMemoryKeyTable, nextTurnWithHash } from './key-table.ts'
import { turnKindsInIndex, outlineFromIndex, type TapeIndex } from './tape-index.ts'
import { type TapeLineFile, TurnReader } from './turn-reader.ts'
import {
  clientCallOf,
  type ClientCall,
  type ResponsePreview,
  type TurnsByKey,
  type TurnOutline,
  type TurnKind,
  type TurnStore,
} from '../../tape/turn-store.ts'
import type { RecordedMessage, Turn, TurnStep } from '../../tape/turn.ts'

/** The turns of a tape on disk. Its index may be anyone's work: nothing is taken from a line that is not what the index says. */
export class IndexedTurns implements TurnStore {
  readonly size: number
  readonly #index: TapeIndex
  readonly #file: TapeLineFile
  readonly #reader: TurnReader
  readonly #recent = new RecentTurnCache()
  readonly #hash = new JsonHasher()
  #kinds: readonly TurnKind[] | undefined

  constructor(index: TapeIndex, file: TapeLineFile) {
    this.size = index.turns
    this.#index = index
    this.#file = file
    this.#reader = new TurnReader(index, file)
  }

  outline(place: number): TurnOutline {
    return outlineFromIndex(this.#index, place)
  }

  kinds(): readonly TurnKind[] {
    this.#kinds ??= turnKindsInIndex(this.#index)
    return this.#kinds
  }

  turn(place: number): Turn | undefined {
    const known = this.#recent.get(place)
    if (known !== undefined) return known
    const turn = this.#reader.turn(place)
    if (turn !== undefined) this.#recent.add(place, turn)
    return turn
  }

  trigger(place: number): RecordedMessage | undefined {
    return this.#reader.trigger(place)
  }

  clientCall(place: number): ClientCall | undefined {
    return clientCallOf({ trigger: this.trigger(place) })
  }

  mostSimilar(key: string, places: readonly number[], most: number): readonly number[] {
    this.#hash.hashCanonical(key)
    const { sketch } = this.#hash
    return highestScoring(places, (place) => countBits(sketch & this.#index.sketch.at(place)), most)
  }

  previewResponse(place: number, text: string): ResponsePreview | undefined {
    const length = this.#index.responseLength.at(place)
    if (length === 0) return this.#glanceAtTurn(place, text)
    const line = this.#file.read(this.#index.responseAt.at(place), length)
    return line === undefined ? undefined : { length, mayContain: line.includes(text) }
  }

  keyedBy(keyOf: (called: ClientCall) => string): TurnsByKey {
    const hashes = keyOf === requestKey ? this.#index : this.#hashesBy(keyOf)
    const table = keyOf === requestKey ? this.#index : inMemoryKeyTable(buildKeyTable(hashes))
    return {
      isExact: false,
      first: (key) =>
        firstTurnWithHash(
          table,
          hashes,
          keyOf === requestKey ? this.#hash.hashCanonical(key) : hashText(key),
        ),
      after: (place) => nextTurnWithHash(table, place),
    }
  }

  *[Symbol.iterator](): Generator<Turn> {
    for (let place = 0; place < this.size; place++) {
      const turn = this.turn(place)
      if (turn !== undefined) yield turn
    }
  }

  /** Other keys than those in the index: every call of the client is read once. */
  #hashesBy(keyOf: (called: ClientCall) => string): Pick<TapeIndex, 'hashLow' | 'hashHigh' | 'mark'> {
    const hashLow = new Uint32Array(this.size)
    const hashHigh = new Uint32Array(this.size)
    for (let place = 0; place < this.size; place++) {
      const called = this.clientCall(place)
      const { low, high } = called === undefined ? { low: 0, high: 0 } : hashText(keyOf(called))
      hashLow[place] = low
      hashHigh[place] = high
    }
    return { hashLow: new ArrayColumn(hashLow), hashHigh: new ArrayColumn(hashHigh), mark: this.#index.mark }
  }

  /** Of an answer that came after other steps. */
  #glanceAtTurn(place: number, text: string): ResponsePreview | undefined {
    const said = this.turn(place)?.response?.text
    return said === undefined ? undefined : { length: said.length, mayContain: said.includes(text) }
  }
}

/** So many of the places, those that share most first; of equals those that come first. */
function highestScoring(
  places: readonly number[],
  sharedBy: (place: number) => number,
  most: number,
): readonly number[] {
  const byCount: number[][] = []
  for (const place of places) (byCount[sharedBy(place)] ??= []).push(place)
  const chosen: number[] = []
  for (const equals of byCount.toReversed()) chosen.push(...(equals ?? []).slice(0, most - chosen.length))
  return chosen
}

function countBits(word: number): number {
  let rest = word
  let bits = 0
  for (; rest !== 0; bits++) rest &= rest - 1
  return bits
}

const MAX_CACHED_TURNS = 256
const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024

/** The turns that were read last, as far as there is room for them. */
class RecentTurnCache {
  readonly #turns = new Map<number, Turn>()
  #characters = 0

  get(place: number): Turn | undefined {
    return this.#turns.get(place)
  }

  add(place: number, turn: Turn): void {
    this.#turns.set(place, turn)
    this.#characters += textLengthOf(turn)
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MAX_CACHED_TURNS && this.#characters <= MAX_CACHED_CHARACTERS) return
      this.#drop(oldest)
    }
  }

  #drop(place: number): void {
    const turn = this.#turns.get(place)
    this.#turns.delete(place)
    if (turn !== undefined) this.#characters -= textLengthOf(turn)
  }
}

function textLengthOf({ trigger, steps }: Turn): number {
  return steps.reduce((sum, step) => sum + stepText(step).length, trigger?.text.length ?? 0)
}

function stepText(step: TurnStep): string {
  return step.kind === 'ask' ? step.request.text : step.message.text
}

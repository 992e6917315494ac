import { hashText, JsonHasher } from '../../json/hash.ts'
import { requestKey } from '../../match/request-key.ts'
import { ArrayColumn } from '../columns.ts'
import { buildKeyTable, firstTurnWithHash, inMemoryKeyTable, nextTurnWithHash } from './key-table.ts'
import { turnKindsInIndex, summaryFromIndex, type TapeIndex } from './tape-index.ts'
import { type TapeLineFile, TurnReader } from './turn-reader.ts'
import {
  clientCallOf,
  type KeyedTurns,
  type KeyOf,
  NO_TURN,
  type TurnKind,
  TurnStore,
  type TurnSummary,
} from '../../tape/turns.ts'
import type { RecordedMessage, Turn, TurnStep } from '../../tape/turn.ts'

/** The turns of a tape on disk. Another program may have written its index, so a line that differs from the index is not used. */
export class IndexedTurns extends TurnStore {
  readonly size: number
  readonly #index: TapeIndex
  readonly #reader: TurnReader
  readonly #recent = new RecentTurnCache()
  readonly #hash = new JsonHasher()

  constructor(index: TapeIndex, file: TapeLineFile) {
    super()
    this.size = index.turns
    this.#index = index
    this.#reader = new TurnReader(index, file)
  }

  at(index: number): Turn | undefined {
    const known = this.#recent.get(index)
    if (known !== undefined) return known
    const turn = this.#reader.turn(index)
    if (turn !== undefined) this.#recent.add(index, turn)
    return turn
  }

  trigger(index: number): RecordedMessage | undefined {
    return this.#reader.trigger(index)
  }

  summary(index: number): TurnSummary {
    return index >= 0 && index < this.size ? summaryFromIndex(this.#index, index) : NO_TURN
  }

  override responseText(index: number): string {
    return this.#reader.responseLine(index)?.toString('utf8') ?? super.responseText(index)
  }

  override mostSimilar(key: string, indexes: readonly number[], limit: number): readonly number[] {
    this.#hash.hashCanonical(key)
    const { sketch } = this.#hash
    return highestScoring(indexes, (index) => countBits(sketch & this.#index.sketch.at(index)), limit)
  }

  protected override countKinds(): readonly TurnKind[] {
    return turnKindsInIndex(this.#index)
  }

  protected override indexBy(keyOf: KeyOf): KeyedTurns {
    const isIndexed = keyOf === requestKey
    const hashes = isIndexed ? this.#index : this.#hashesBy(keyOf)
    const table = isIndexed ? this.#index : inMemoryKeyTable(buildKeyTable(hashes))
    const hashOf = isIndexed ? (key: string) => this.#hash.hashCanonical(key) : hashText
    return {
      first: (key) => firstTurnWithHash(table, hashes, hashOf(key)),
      next: (index) => nextTurnWithHash(table, index),
      read: (index, key) => {
        const turn = this.at(index)
        const call = clientCallOf(turn?.trigger)
        return call !== undefined && keyOf(call) === key ? turn : undefined
      },
    }
  }

  /** The file holds the hashes of `requestKey`. For other keys every trigger is read once. */
  #hashesBy(keyOf: KeyOf): Pick<TapeIndex, 'hashLow' | 'hashHigh' | 'mark'> {
    const hashLow = new Uint32Array(this.size)
    const hashHigh = new Uint32Array(this.size)
    for (let index = 0; index < this.size; index++) {
      const call = clientCallOf(this.trigger(index))
      const { low, high } = call === undefined ? { low: 0, high: 0 } : hashText(keyOf(call))
      hashLow[index] = low
      hashHigh[index] = high
    }
    return { hashLow: new ArrayColumn(hashLow), hashHigh: new ArrayColumn(hashHigh), mark: this.#index.mark }
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

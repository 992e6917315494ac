import type { Hash64 } from '../../json/hash.ts'
import { ArrayColumn, type NumberColumn } from '../columns.ts'
import { TURN_FLAG, type KeyTable, type TurnColumns } from './tape-index.ts'

type KeyHashes = Pick<TurnColumns, 'hashLow' | 'hashHigh' | 'mark'>

/** Puts every turn that has a key under it, in their order. */
export function buildKeyTable(hashes: KeyHashes): KeyTable<Uint32Array> {
  const turns = hashes.mark.length
  const slots = new Uint32Array(slotCountFor(turns))
  const held = new ArrayColumn(slots)
  const next = new Uint32Array(turns)
  const last = new Uint32Array(turns)
  for (let turn = 0; turn < turns; turn++) {
    if ((hashes.mark.at(turn) & (TURN_FLAG.request | TURN_FLAG.notification)) === 0) continue
    const slot = slotOf(held, hashes, { low: hashes.hashLow.at(turn), high: hashes.hashHigh.at(turn) })
    const first = (slots[slot] ?? 0) - 1
    if (first < 0) slots[slot] = turn + 1
    else next[last[first] ?? 0] = turn + 1
    last[first < 0 ? turn : first] = turn
  }
  return { slots, next }
}

export function inMemoryKeyTable({ slots, next }: KeyTable<Uint32Array>): KeyTable {
  return { slots: new ArrayColumn(slots), next: new ArrayColumn(next) }
}

/** The first turn under a hash; -1 when there is none. */
export function firstTurnWithHash(table: KeyTable, hashes: KeyHashes, key: Hash64): number {
  const slot = slotOf(table.slots, hashes, key)
  return slot < 0 ? -1 : table.slots.at(slot) - 1
}

/** The next turn under the same hash; -1 when there is none. It comes later on the tape, so that no chain can be a ring. */
export function nextTurnWithHash({ next }: KeyTable, turn: number): number {
  const after = next.at(turn) - 1
  return after > turn && after < next.length ? after : -1
}

// Never more than two thirds full.
function slotCountFor(turns: number): number {
  let slots = 16
  while (slots < turns * 1.5) slots *= 2
  return slots
}

/**
 * The slot that holds this hash, or the free one where it would stand; -1 when there is neither, as in a broken table. The low half
 * says where to look and the high half is compared: to read the low half too would be one more page, and the texts are compared anyway.
 */
function slotOf(slots: NumberColumn, { hashHigh }: KeyHashes, { low, high }: Hash64): number {
  const mask = slots.length - 1
  for (let probe = 0, slot = low & mask; probe < slots.length; probe++, slot = (slot + 1) & mask) {
    const turn = slots.at(slot) - 1
    if (turn < 0 || hashHigh.at(turn) === high) return slot
  }
  return -1
}

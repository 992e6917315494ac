import type { Hash64 } from '../../json/hash.ts'
import { NO_TURN, type TurnKind, type TurnSummary } from '../../tape/turns.ts'
import { ArrayColumn, mapRecord, type NumberArray, type NumberColumn, type NumberType } from '../columns.ts'
import type { TapeProblem } from '../file/frame-reader.ts'

type TurnColumn =
  | 'frame'
  | 'triggerAt'
  | 'responseAt'
  | 'triggerLength'
  | 'responseLength'
  | 'hashLow'
  | 'hashHigh'
  | 'mark'
  | 'sketch'
  | 'next'

type StepColumn = 'at' | 'answerAt' | 'turn' | 'kind' | 'length' | 'item' | 'answerLength' | 'answerItem'

/**
 * One row per turn. A turn that consists of a request and its response takes less than 64 bytes. Offsets and lengths are those
 * of a line in the tape file.
 */
export const TURN_COLUMNS: Readonly<Record<TurnColumn, NumberType>> = {
  /** Frame number of the trigger; 0 if the turn has no trigger. */
  frame: 'float64',
  triggerAt: 'float64',
  /** The response, if it is the first step of the turn. Otherwise the length is 0. */
  responseAt: 'float64',
  triggerLength: 'uint32',
  responseLength: 'uint32',
  /** Hash of the key. It narrows a search down; the keys themselves are compared when a turn is read. */
  hashLow: 'uint32',
  hashHigh: 'uint32',
  /** Number of the label, and `TURN_FLAG` in the lower bits. */
  mark: 'uint32',
  /** Bits of the values in the trigger's params: similar params share many bits. */
  sketch: 'uint32',
  /** The next turn with the same hash, counted from 1; 0 if there is none. */
  next: 'uint32',
}

/** One row per step that is not the response in the columns above, ordered by turn. */
export const STEP_COLUMNS: Readonly<Record<StepColumn, NumberType>> = {
  at: 'float64',
  /** The client's response to a request of the server; a length of 0 if it did not respond. */
  answerAt: 'float64',
  turn: 'uint32',
  /** A `STEP_KIND`. */
  kind: 'uint32',
  length: 'uint32',
  /** Position in the batch, counted from 1; 0 if the line is not a batch. */
  item: 'uint32',
  answerLength: 'uint32',
  answerItem: 'uint32',
}

export const TURN_FLAG = { request: 1, notification: 2, enveloped: 4, answered: 8, hasSteps: 16 } as const
export const TURN_FLAG_BITS = 5

/** A row of kind `triggered` is not a step: it holds the position of the trigger in its batch. */
export const STEP_KIND = { notify: 1, ask: 2, respond: 3, triggered: 4 } as const

/** The data of an index, in memory or in a file. */
export interface IndexTables<Column> {
  readonly turns: Readonly<Record<TurnColumn, Column>>
  readonly steps: Readonly<Record<StepColumn, Column>>
  /** Hash table: the first turn with a hash, counted from 1. */
  readonly slots: Column
  readonly labels: readonly TurnLabel[]
  readonly kinds: readonly TurnKindCount[]
  readonly about: IndexedTapeFacts
}

/** Names that many turns share. */
export interface TurnLabel {
  readonly server: string
  /** Empty if the turn has no trigger. */
  readonly method: string
  /** The tool or prompt. */
  readonly name: string | undefined
}

/** The number of turns with the same label and kind of trigger. */
export interface TurnKindCount {
  /** The label and the flags for the kind of trigger. */
  readonly mark: number
  readonly count: number
  /** Index of the first one. */
  readonly first: number
}

export interface IndexedTapeFacts {
  readonly ended: boolean
  readonly problems: readonly TapeProblem[]
  /** The lines of servers that joined after the header was written. */
  readonly joined: readonly string[]
}

/** The line of a message in the tape file. */
export interface MessageLocation {
  readonly at: number
  readonly length: number
  /** Position in the batch, if the line is one. */
  readonly item: number | undefined
}

export interface IndexedStep extends MessageLocation {
  readonly kind: number
  readonly answer: MessageLocation | undefined
}

/** Describes the turns of a tape without reading the tape. */
export class TapeIndex {
  readonly size: number
  readonly about: IndexedTapeFacts
  /** Turns by the hash of `requestKey`. */
  readonly keys: KeyTable
  readonly #tables: IndexTables<NumberColumn>

  constructor(tables: IndexTables<NumberColumn>) {
    this.size = tables.turns.mark.length
    this.about = tables.about
    this.keys = new KeyTable({ ...tables.turns, slots: tables.slots })
    this.#tables = tables
  }

  static inMemory(tables: IndexTables<NumberArray>): TapeIndex {
    return new TapeIndex({
      ...tables,
      turns: mapRecord(tables.turns, (numbers) => new ArrayColumn(numbers)),
      steps: mapRecord(tables.steps, (numbers) => new ArrayColumn(numbers)),
      slots: new ArrayColumn(tables.slots),
    })
  }

  summary(turn: number): TurnSummary {
    if (!(turn >= 0 && turn < this.size)) return NO_TURN
    const mark = this.#tables.turns.mark.at(turn)
    const { server, method, name } = this.#labelOf(mark)
    return {
      trigger: triggerKindOf(mark),
      server,
      method,
      frame: this.#tables.turns.frame.at(turn),
      answered: (mark & TURN_FLAG.answered) !== 0,
      enveloped: (mark & TURN_FLAG.enveloped) !== 0,
      hasSteps: this.steps(turn).some(({ kind }) => kind === STEP_KIND.notify || kind === STEP_KIND.ask),
      name,
    }
  }

  /** Turns of the same method are one kind, whatever tool or prompt they name. */
  kinds(): readonly TurnKind[] {
    const known = new Map<string, TurnKind>()
    for (const { mark, count, first } of this.#tables.kinds) {
      const { server, method } = this.#labelOf(mark)
      const kind = { trigger: triggerKindOf(mark), server, method }
      const key = JSON.stringify(kind)
      const before = known.get(key) ?? { count: 0, first }
      known.set(key, { ...kind, count: before.count + count, first: before.first })
    }
    return [...known.values()]
  }

  sketch(turn: number): number {
    return this.#tables.turns.sketch.at(turn)
  }

  trigger(turn: number): MessageLocation {
    const { triggerAt, triggerLength } = this.#tables.turns
    const item = this.steps(turn).find(({ kind }) => kind === STEP_KIND.triggered)?.item
    return { at: triggerAt.at(turn), length: triggerLength.at(turn), item }
  }

  /** The response, if it is the first step of the turn. */
  response(turn: number): MessageLocation | undefined {
    const { responseAt, responseLength } = this.#tables.turns
    const length = responseLength.at(turn)
    return length === 0 ? undefined : { at: responseAt.at(turn), length, item: undefined }
  }

  /** The other steps of a turn, in their order. */
  steps(turn: number): readonly IndexedStep[] {
    if ((this.#tables.turns.mark.at(turn) & TURN_FLAG.hasSteps) === 0) return []
    const { turn: turns } = this.#tables.steps
    const steps: IndexedStep[] = []
    for (let row = firstRowOf(turns, turn); row < turns.length && turns.at(row) === turn; row++)
      steps.push(this.#stepAt(row))
    return steps
  }

  #stepAt(row: number): IndexedStep {
    const { at, kind, length, item, answerAt, answerLength, answerItem } = this.#tables.steps
    const answer = { at: answerAt.at(row), length: answerLength.at(row), item: zeroBased(answerItem.at(row)) }
    return {
      kind: kind.at(row),
      at: at.at(row),
      length: length.at(row),
      item: zeroBased(item.at(row)),
      answer: answer.length === 0 ? undefined : answer,
    }
  }

  #labelOf(mark: number): TurnLabel {
    return this.#tables.labels[mark >>> TURN_FLAG_BITS] ?? NO_LABEL
  }
}

const NO_LABEL: TurnLabel = { server: '', method: '', name: undefined }

function triggerKindOf(mark: number): TurnSummary['trigger'] {
  if ((mark & TURN_FLAG.request) !== 0) return 'request'
  return (mark & TURN_FLAG.notification) !== 0 ? 'notification' : 'none'
}

function zeroBased(item: number): number | undefined {
  return item === 0 ? undefined : item - 1
}

/** Binary search, because the rows are ordered by turn. */
function firstRowOf(turns: NumberColumn, turn: number): number {
  let low = 0
  let high = turns.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (turns.at(middle) < turn) low = middle + 1
    else high = middle
  }
  return low
}

interface KeyColumns {
  readonly hashHigh: NumberColumn
  readonly slots: NumberColumn
  readonly next: NumberColumn
}

/** Finds turns by the hash of their key. */
export class KeyTable {
  readonly #columns: KeyColumns

  constructor(columns: KeyColumns) {
    this.#columns = columns
  }

  /** The first turn with a hash, or -1. */
  first(hash: Hash64): number {
    const slot = slotFor(hash, this.#columns)
    return slot < 0 ? -1 : this.#columns.slots.at(slot) - 1
  }

  /** The next turn with the same hash, or -1. A chain always leads to later turns, so that a damaged file cannot form a loop. */
  next(turn: number): number {
    const { next } = this.#columns
    const later = next.at(turn) - 1
    return later > turn && later < next.length ? later : -1
  }
}

/** Computes the hash table and the chains of a key table. */
export function buildKeyTable(
  { hashLow, hashHigh }: Readonly<Record<'hashLow' | 'hashHigh', NumberColumn>>,
  hasKey: (turn: number) => boolean,
): { readonly slots: Uint32Array; readonly next: Uint32Array } {
  const turns = hashHigh.length
  const slots = new Uint32Array(slotCountFor(turns))
  const next = new Uint32Array(turns)
  const last = new Uint32Array(turns)
  const columns = { hashHigh, slots: new ArrayColumn(slots) }
  for (let turn = 0; turn < turns; turn++) {
    if (!hasKey(turn)) continue
    const slot = slotFor({ low: hashLow.at(turn), high: hashHigh.at(turn) }, columns)
    const first = (slots[slot] ?? 0) - 1
    if (first < 0) slots[slot] = turn + 1
    else next[last[first] ?? 0] = turn + 1
    last[first < 0 ? turn : first] = turn
  }
  return { slots, next }
}

// At most two thirds of the slots are in use.
function slotCountFor(turns: number): number {
  let slots = 16
  while (slots < turns * 1.5) slots *= 2
  return slots
}

/**
 * The slot of a hash, or the free slot where it belongs. Returns -1 if there is neither, which happens only in a damaged table.
 * The low half says where to look and the high half is compared. Comparing the low half too would read one more page, and the
 * keys are compared anyway.
 */
function slotFor({ low, high }: Hash64, { hashHigh, slots }: Omit<KeyColumns, 'next'>): number {
  const mask = slots.length - 1
  for (let probe = 0, slot = low & mask; probe < slots.length; probe++, slot = (slot + 1) & mask) {
    const turn = slots.at(slot) - 1
    if (turn < 0 || hashHigh.at(turn) === high) return slot
  }
  return -1
}

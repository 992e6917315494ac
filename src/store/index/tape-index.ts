import { type NumberArray, type NumberColumn, ArrayColumn } from '../columns.ts'
import type { TapeProblem } from '../file/frame-reader.ts'
import type { TurnSummary, TurnKind } from '../../tape/turns.ts'

/**
 * What is kept of a tape so that its turns can be found without reading it: fewer than 64 bytes for a turn that is a request
 * and its answer. A turn is a row of the columns; a step that is more than an answer is a row of the steps.
 */
export interface TapeIndex<Column = NumberColumn> extends IndexColumns<Column> {
  readonly turns: number
  readonly labels: readonly TurnLabel[]
  readonly kinds: readonly TurnKindCount[]
  readonly about: IndexedTapeFacts
}

/** An index that was made now, to be written to a file. */
export type IndexData = TapeIndex<NumberArray>

export interface IndexColumns<Column> extends TurnColumns<Column>, StepColumns<Column>, KeyTable<Column> {}

export interface TurnColumns<Column = NumberColumn> {
  /** The frame of the trigger; 0 when there is none. */
  readonly frame: Column
  /** Where the trigger's line begins in the file, and how long it is. */
  readonly triggerAt: Column
  readonly triggerLength: Column
  /** The line of the answer, when it was the first step of the turn; a length of 0 when it was not. */
  readonly responseAt: Column
  readonly responseLength: Column
  /** The hash of the key, which only narrows the search: keys are compared. */
  readonly hashLow: Column
  readonly hashHigh: Column
  /** The number of its label, and the flags below. */
  readonly mark: Column
  /** Bits of the values that the trigger's params hold: two that have many in common are alike. */
  readonly sketch: Column
}

export interface StepColumns<Column = NumberColumn> {
  /** The turn of each step; in ascending order. */
  readonly stepTurn: Column
  readonly stepKind: Column
  readonly stepAt: Column
  readonly stepLength: Column
  /** The place in the batch, counted from 1; 0 when the line is no batch. */
  readonly stepItem: Column
  /** The client's answer to a question of the server; a length of 0 when it gave none. */
  readonly answerAt: Column
  readonly answerLength: Column
  readonly answerItem: Column
}

/** Finds the turns of a key: a hash table of the first turn of each key, and from each turn to the next. Both count from 1. */
export interface KeyTable<Column = NumberColumn> {
  readonly slots: Column
  readonly next: Column
}

/** What many turns share. */
export interface TurnLabel {
  readonly server: string
  /** Empty when nothing set the turn off. */
  readonly method: string
  /** The tool or prompt. */
  readonly name: string | undefined
}

/** The turns that have the same label and are set off in the same way. */
export interface TurnKindCount {
  /** The mark of such a turn, as far as it is the same for all. */
  readonly mark: number
  readonly count: number
  /** The place of the first one. */
  readonly first: number
}

export interface IndexedTapeFacts {
  readonly ended: boolean
  readonly problems: readonly TapeProblem[]
  /** The lines of the servers that joined after the header was written. */
  readonly joined: readonly string[]
}

export const TURN_FLAG = { request: 1, notification: 2, enveloped: 4, answered: 8, hasSteps: 16 } as const
export const TURN_FLAG_BITS = 5

/** `triggered`: no step, but the place of the trigger in its batch. */
export const STEP_KIND = { notify: 1, ask: 2, respond: 3, triggered: 4 } as const

/** An index that was made now, as it is looked into. */
export function inMemoryIndex(made: IndexData): TapeIndex {
  return { ...made, ...mapIndexColumns(made, (numbers) => new ArrayColumn(numbers)) }
}

/** Makes something of each column, in the order in which they stand in a file. */
export function mapIndexColumns<From, To>(
  columns: IndexColumns<From>,
  make: (column: From) => To,
): IndexColumns<To> {
  return {
    frame: make(columns.frame),
    triggerAt: make(columns.triggerAt),
    responseAt: make(columns.responseAt),
    stepAt: make(columns.stepAt),
    answerAt: make(columns.answerAt),
    triggerLength: make(columns.triggerLength),
    responseLength: make(columns.responseLength),
    hashLow: make(columns.hashLow),
    hashHigh: make(columns.hashHigh),
    mark: make(columns.mark),
    sketch: make(columns.sketch),
    next: make(columns.next),
    slots: make(columns.slots),
    stepTurn: make(columns.stepTurn),
    stepKind: make(columns.stepKind),
    stepLength: make(columns.stepLength),
    stepItem: make(columns.stepItem),
    answerLength: make(columns.answerLength),
    answerItem: make(columns.answerItem),
  }
}

/** What an index says of a turn. */
export function summaryFromIndex(index: TapeIndex, place: number): TurnSummary {
  const mark = index.mark.at(place)
  const { server, method, name } = index.labels[mark >>> TURN_FLAG_BITS] ?? EMPTY_LABEL
  return {
    trigger: triggerKindOf(mark),
    server,
    method,
    frame: index.frame.at(place),
    answered: (mark & TURN_FLAG.answered) !== 0,
    enveloped: (mark & TURN_FLAG.enveloped) !== 0,
    hasSteps: indexedStepsOf(index, place).some(isIntermediateStep),
    name,
  }
}

function isIntermediateStep({ kind }: IndexedStep): boolean {
  return kind === STEP_KIND.notify || kind === STEP_KIND.ask
}

/** The kinds of its turns. Those of one method are one kind, whatever they name. */
export function turnKindsInIndex({ kinds, labels }: TapeIndex): readonly TurnKind[] {
  const known = new Map<string, TurnKind>()
  for (const { mark, count, first } of kinds) {
    const { server, method } = labels[mark >>> TURN_FLAG_BITS] ?? EMPTY_LABEL
    const kind = { trigger: triggerKindOf(mark), server, method }
    const key = JSON.stringify(kind)
    const before = known.get(key) ?? { count: 0, first }
    known.set(key, { ...kind, count: before.count + count, first: before.first })
  }
  return [...known.values()]
}

function triggerKindOf(mark: number): TurnSummary['trigger'] {
  if ((mark & TURN_FLAG.request) !== 0) return 'request'
  return (mark & TURN_FLAG.notification) !== 0 ? 'notification' : 'none'
}

const EMPTY_LABEL: TurnLabel = { server: '', method: '', name: undefined }

/** Where a message stands in the file. */
export interface MessageLocation {
  readonly at: number
  readonly length: number
  /** The place in the batch, when the line is one. */
  readonly item: number | undefined
}

/** A step of a turn, as the index knows it. */
export interface IndexedStep extends MessageLocation {
  readonly kind: number
  readonly answer: MessageLocation | undefined
}

/** The steps of a turn that are rows of their own, in their order. */
export function indexedStepsOf(
  columns: StepColumns & Pick<TurnColumns, 'mark'>,
  turn: number,
): readonly IndexedStep[] {
  if ((columns.mark.at(turn) & TURN_FLAG.hasSteps) === 0) return []
  const { stepTurn } = columns
  const rows: IndexedStep[] = []
  let row = firstStepRowOf(stepTurn, turn)
  while (row < stepTurn.length && stepTurn.at(row) === turn) rows.push(stepAt(columns, row++))
  return rows
}

function firstStepRowOf(turns: NumberColumn, turn: number): number {
  let low = 0
  let high = turns.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (turns.at(middle) < turn) low = middle + 1
    else high = middle
  }
  return low
}

function stepAt(columns: StepColumns, row: number): IndexedStep {
  const answerLength = columns.answerLength.at(row)
  return {
    kind: columns.stepKind.at(row),
    at: columns.stepAt.at(row),
    length: columns.stepLength.at(row),
    item: batchItemOf(columns.stepItem.at(row)),
    answer:
      answerLength === 0
        ? undefined
        : {
            at: columns.answerAt.at(row),
            length: answerLength,
            item: batchItemOf(columns.answerItem.at(row)),
          },
  }
}

function batchItemOf(counted: number): number | undefined {
  return counted === 0 ? undefined : counted - 1
}

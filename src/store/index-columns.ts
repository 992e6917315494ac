import { ArrayColumn } from './number-column.ts'
import type { IndexColumns, IndexData, TapeIndex } from './index/tape-index.ts'

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

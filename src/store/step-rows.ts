import type { NumberColumn } from './number-column.ts'
import { MARK, type StepColumns, type TurnColumns } from './tape-index.ts'

/** Where a message stands in the file. */
export interface MessagePlace {
  readonly at: number
  readonly length: number
  /** The place in the batch, when the line is one. */
  readonly item: number | undefined
}

/** A step of a turn, as the index knows it. */
export interface StepRow extends MessagePlace {
  readonly kind: number
  readonly answer: MessagePlace | undefined
}

/** The steps of a turn that are rows of their own, in their order. */
export function stepsOf(columns: StepColumns & Pick<TurnColumns, 'mark'>, turn: number): readonly StepRow[] {
  if ((columns.mark.at(turn) & MARK.hasSteps) === 0) return []
  const { stepTurn } = columns
  const rows: StepRow[] = []
  let row = firstRowOf(stepTurn, turn)
  while (row < stepTurn.length && stepTurn.at(row) === turn) rows.push(rowAt(columns, row++))
  return rows
}

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

function rowAt(columns: StepColumns, row: number): StepRow {
  const answerLength = columns.answerLength.at(row)
  return {
    kind: columns.stepKind.at(row),
    at: columns.stepAt.at(row),
    length: columns.stepLength.at(row),
    item: itemIn(columns.stepItem.at(row)),
    answer:
      answerLength === 0
        ? undefined
        : { at: columns.answerAt.at(row), length: answerLength, item: itemIn(columns.answerItem.at(row)) },
  }
}

function itemIn(counted: number): number | undefined {
  return counted === 0 ? undefined : counted - 1
}

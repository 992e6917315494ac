import type { NumberColumn } from './number-column.ts'
import { TURN_FLAG, type StepColumns, type TurnColumns } from './index/tape-index.ts'

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

import type { StepColumns } from './tape-index.ts'

interface MessagePlace {
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
export function stepsOf(columns: StepColumns, turn: number): readonly StepRow[] {
  const rows: StepRow[] = []
  for (let row = firstRowOf(columns.stepTurn, turn); columns.stepTurn[row] === turn; row++) {
    rows.push(rowAt(columns, row))
  }
  return rows
}

function firstRowOf(turns: Uint32Array, turn: number): number {
  let low = 0
  let high = turns.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((turns[middle] ?? 0) < turn) low = middle + 1
    else high = middle
  }
  return low
}

function rowAt(columns: StepColumns, row: number): StepRow {
  const answerLength = columns.answerLength[row] ?? 0
  return {
    kind: columns.stepKind[row] ?? 0,
    at: columns.stepAt[row] ?? 0,
    length: columns.stepLength[row] ?? 0,
    item: itemIn(columns.stepItem[row]),
    answer:
      answerLength === 0
        ? undefined
        : { at: columns.answerAt[row] ?? 0, length: answerLength, item: itemIn(columns.answerItem[row]) },
  }
}

function itemIn(counted: number | undefined): number | undefined {
  return counted === undefined || counted === 0 ? undefined : counted - 1
}

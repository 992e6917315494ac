import { indexesUpTo, uint32Column, float64Column } from './columns.ts'
import type { NumberArray } from './number-column.ts'
import type { MessageLocation } from './step-rows.ts'
import type { StepColumns } from './index/tape-index.ts'

/** Writes the steps of turns down as rows of an index, as they come. */
export class IndexStepRows {
  readonly #rows = {
    stepTurn: uint32Column(),
    stepKind: uint32Column(),
    stepAt: float64Column(),
    stepLength: uint32Column(),
    stepItem: uint32Column(),
    answerAt: float64Column(),
    answerLength: uint32Column(),
    answerItem: uint32Column(),
  }

  /** Gives the row of the step. */
  add(turn: number, kind: number, { at, length, item }: MessageLocation): number {
    const row = this.#rows.stepTurn.length
    this.#rows.stepTurn.push(turn)
    this.#rows.stepKind.push(kind)
    this.#rows.stepAt.push(at)
    this.#rows.stepLength.push(length)
    this.#rows.stepItem.push(oneBased(item))
    this.#rows.answerAt.push(0)
    this.#rows.answerLength.push(0)
    this.#rows.answerItem.push(0)
    return row
  }

  /** What the client answered to the question in a row. */
  setAnswer(row: number, { at, length, item }: MessageLocation): void {
    this.#rows.answerAt.set(row, at)
    this.#rows.answerLength.set(row, length)
    this.#rows.answerItem.set(row, oneBased(item))
  }

  /** All of them, those of one turn together. */
  toColumns(): StepColumns<NumberArray> {
    const order = orderByTurn(this.#rows.stepTurn.toArray())
    return {
      stepTurn: this.#rows.stepTurn.toArray(order),
      stepKind: this.#rows.stepKind.toArray(order),
      stepAt: this.#rows.stepAt.toArray(order),
      stepLength: this.#rows.stepLength.toArray(order),
      stepItem: this.#rows.stepItem.toArray(order),
      answerAt: this.#rows.answerAt.toArray(order),
      answerLength: this.#rows.answerLength.toArray(order),
      answerItem: this.#rows.answerItem.toArray(order),
    }
  }
}

function oneBased(item: number | undefined): number {
  return item === undefined ? 0 : item + 1
}

function orderByTurn(turns: Uint32Array): Uint32Array {
  return indexesUpTo(turns.length).toSorted((a, b) => (turns[a] ?? 0) - (turns[b] ?? 0) || a - b)
}

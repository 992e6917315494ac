import { placesOf, wholeColumn, wideColumn } from './columns.ts'
import type { NumberArray } from './number-column.ts'
import type { MessagePlace } from './step-rows.ts'
import type { StepColumns } from './tape-index.ts'

/** Writes the steps of turns down as rows of an index, as they come. */
export class StepLog {
  readonly #rows = {
    stepTurn: wholeColumn(),
    stepKind: wholeColumn(),
    stepAt: wideColumn(),
    stepLength: wholeColumn(),
    stepItem: wholeColumn(),
    answerAt: wideColumn(),
    answerLength: wholeColumn(),
    answerItem: wholeColumn(),
  }

  /** Gives the row of the step. */
  add(turn: number, kind: number, { at, length, item }: MessagePlace): number {
    const row = this.#rows.stepTurn.length
    this.#rows.stepTurn.push(turn)
    this.#rows.stepKind.push(kind)
    this.#rows.stepAt.push(at)
    this.#rows.stepLength.push(length)
    this.#rows.stepItem.push(counted(item))
    this.#rows.answerAt.push(0)
    this.#rows.answerLength.push(0)
    this.#rows.answerItem.push(0)
    return row
  }

  /** What the client answered to the question in a row. */
  answer(row: number, { at, length, item }: MessagePlace): void {
    this.#rows.answerAt.set(row, at)
    this.#rows.answerLength.set(row, length)
    this.#rows.answerItem.set(row, counted(item))
  }

  /** All of them, those of one turn together. */
  taken(): StepColumns<NumberArray> {
    const order = inOrderOfTurns(this.#rows.stepTurn.taken())
    return {
      stepTurn: this.#rows.stepTurn.taken(order),
      stepKind: this.#rows.stepKind.taken(order),
      stepAt: this.#rows.stepAt.taken(order),
      stepLength: this.#rows.stepLength.taken(order),
      stepItem: this.#rows.stepItem.taken(order),
      answerAt: this.#rows.answerAt.taken(order),
      answerLength: this.#rows.answerLength.taken(order),
      answerItem: this.#rows.answerItem.taken(order),
    }
  }
}

function counted(item: number | undefined): number {
  return item === undefined ? 0 : item + 1
}

function inOrderOfTurns(turns: Uint32Array): Uint32Array {
  return placesOf(turns.length).toSorted((a, b) => (turns[a] ?? 0) - (turns[b] ?? 0) || a - b)
}

import type { TapeProblem } from '../line-checks.ts'
import type { NumberArray, NumberColumn } from '../number-column.ts'

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

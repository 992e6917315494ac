import type { Problem } from './line-checks.ts'

/**
 * What is kept of a tape so that its turns can be found without reading it: fewer than 64 bytes for a turn that is a request
 * and its answer. A turn is a row of the columns; a step that is more than an answer is a row of the steps.
 */
export interface TapeIndex extends TurnColumns, StepColumns, KeyTable {
  readonly turns: number
  readonly labels: readonly Label[]
  readonly about: About
}

export interface TurnColumns {
  /** The frame of the trigger; 0 when there is none. */
  readonly frame: Float64Array
  /** Where the trigger's line begins in the file, and how long it is. */
  readonly triggerAt: Float64Array
  readonly triggerLength: Uint32Array
  /** The line of the answer, when it was the first step of the turn; a length of 0 when it was not. */
  readonly responseAt: Float64Array
  readonly responseLength: Uint32Array
  /** The hash of the key, which only narrows the search: keys are compared. */
  readonly hashLow: Uint32Array
  readonly hashHigh: Uint32Array
  /** The number of its label, and the flags below. */
  readonly mark: Uint32Array
}

export interface StepColumns {
  /** The turn of each step; in ascending order. */
  readonly stepTurn: Uint32Array
  readonly stepKind: Uint32Array
  readonly stepAt: Float64Array
  readonly stepLength: Uint32Array
  /** The place in the batch, counted from 1; 0 when the line is no batch. */
  readonly stepItem: Uint32Array
  /** The client's answer to a question of the server; a length of 0 when it gave none. */
  readonly answerAt: Float64Array
  readonly answerLength: Uint32Array
  readonly answerItem: Uint32Array
}

/** Finds the turns of a key: a hash table of the first turn of each key, and from each turn to the next. Both count from 1. */
export interface KeyTable {
  readonly slots: Uint32Array
  readonly next: Uint32Array
}

/** What many turns share. */
export interface Label {
  readonly server: string
  /** Empty when nothing set the turn off. */
  readonly method: string
}

export interface About {
  readonly ended: boolean
  readonly problems: readonly Problem[]
  /** The lines of the servers that joined after the header was written. */
  readonly joined: readonly string[]
}

export const MARK = { request: 1, notification: 2, enveloped: 4, answered: 8, hasSteps: 16 } as const
export const MARK_BITS = 5

/** `triggered`: no step, but the place of the trigger in its batch. */
export const STEP = { notify: 1, ask: 2, respond: 3, triggered: 4 } as const

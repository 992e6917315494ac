import type { Difference } from '../../diff/difference.ts'

/** The layers of a verdict, in the order in which they are judged. */
export const LAYERS = ['transport', 'json-rpc', 'is-error', 'schema', 'values', 'order', 'timing'] as const

export type Layer = (typeof LAYERS)[number]

/** One thing in which the live run is not as recorded. */
export interface StepFinding {
  readonly layer: Layer
  /** `warn` does not fail a run; `skip` takes the answer out of the count of those that were checked. */
  readonly level: 'error' | 'warn' | 'skip'
  /** Of the layer `schema`: whose schema it is, the tool's own or that of the protocol. */
  readonly source?: 'outputSchema' | 'official'
  /** One sentence. */
  readonly message: string
  /** Where, in the grammar that the options take. */
  readonly path?: string
  readonly expected?: unknown
  readonly actual?: unknown
  /** What the comparison of values found, for those who learn what is noise. */
  readonly difference?: Difference
  /** The rule that found it wants the message sent again. */
  readonly retry?: boolean
}

/** What is found in nearly every answer. */
export const NO_FINDINGS: readonly StepFinding[] = []

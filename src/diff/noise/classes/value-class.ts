import type { SessionTimes } from '../noise-kind.ts'

/** What the values at a noisy place have in common. A value that does not fit is a change, although the place is noisy. */
export interface ValueClass {
  /** In the words of a report, such as `uuid` or `number from 1 to 90`. */
  readonly text: string
  accepts(value: unknown, context: ClassContext): boolean
  /** The class of a member or an item, if the class is one of objects or lists. */
  child?(segment: string | number): ValueClass | undefined
}

export interface ClassContext {
  /** True for the recorded value, false for the live one. */
  readonly isRecorded: boolean
  readonly clock?: SessionTimes | undefined
}

/** A kind of value class. */
export interface ClassKind {
  readonly name: string
  /** Finds the class of values that were seen in the same place, one for each sample in order. Returns `undefined` if they do not fit. */
  readonly infer: (values: readonly unknown[], inferPart: InferClass) => ValueClass | undefined
}

/** Finds the narrowest class of parts of values, such as members. */
export type InferClass = (values: readonly unknown[]) => ValueClass

export function areStrings(values: readonly unknown[]): values is readonly string[] {
  return values.every((value) => typeof value === 'string')
}

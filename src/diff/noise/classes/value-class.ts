import type { SessionTimes } from '../noise-kind.ts'

/** What the values at a noisy place have in common. A value that does not fit is a change, although the place is noisy. */
export interface ValueClass {
  /** In the words of a report, such as `uuid` or `number from 1 to 90`. */
  readonly text: string
  /** As data, for a noise profile. The same class can be made from it. */
  readonly written: WrittenClass
  accepts(value: unknown, context: ClassContext): boolean
  /** The class of a member or an item, if the class is one of objects or lists. */
  child?(segment: string | number): ValueClass | undefined
}

/** A class as data. `is` names its kind. */
interface WrittenClass {
  readonly is: string
  readonly [member: string]: unknown
}

export interface ClassContext {
  /** True for the recorded value, false for the live one. */
  readonly isRecorded: boolean
  readonly clock?: SessionTimes | undefined
  /** True if the samples of the class are of the live session. */
  readonly hasLiveSamples?: boolean
}

/** A kind of value class. */
export interface ClassKind {
  readonly name: string
  /** Finds the class of values that were seen in the same place, one for each sample in order. Returns `undefined` if they do not fit. */
  readonly infer: (values: readonly unknown[], inferPart: InferClass) => ValueClass | undefined
  /** Makes the class from its written form. The reader throws if a member is missing or invalid. */
  readonly read: (written: ClassReader) => ValueClass
}

/** Finds the narrowest class of parts of values, such as members. */
export type InferClass = (values: readonly unknown[]) => ValueClass

/** Reads the members of a written class. Every method throws if the member has another type. */
export interface ClassReader {
  readonly text: (name: string) => string
  readonly texts: (name: string) => readonly string[]
  readonly number: (name: string) => number
  readonly flag: (name: string) => boolean
  /** Any value; `undefined` if it is missing. */
  readonly value: (name: string) => unknown
  readonly values: (name: string) => readonly unknown[]
  /** A class. */
  readonly part: (name: string) => ValueClass
  /** A list of classes, or of other values that `readOther` makes. */
  readonly parts: <Other = never>(
    name: string,
    readOther?: (value: unknown) => Other | undefined,
  ) => readonly (ValueClass | Other)[]
  /** An object whose members are classes. */
  readonly members: (name: string) => ReadonlyMap<string, ValueClass>
  readonly has: (name: string) => boolean
  readonly invalid: (name: string, why: string) => Error
}

export function areStrings(values: readonly unknown[]): values is readonly string[] {
  return values.every((value) => typeof value === 'string')
}

import { ExactNumber } from '../json/exact-number.ts'
import type { JsonPath } from '../json/path.ts'
import type { TextFormat } from './formats/format.ts'

/** One difference between two values. `expected` is absent for an addition, `actual` for a removal. */
export interface Difference {
  /** Path from the compared value. It continues into a structured text, such as JSON inside a string. */
  readonly path: JsonPath
  /**
   * `order`: a list has its items in another order. `format`: a structured text, such as JSON, can no longer be parsed. `renamed`: a member of an
   * object has another name that looks generated, and `expected` and `actual` are the names.
   */
  readonly kind: 'added' | 'removed' | 'changed' | 'type' | 'order' | 'format' | 'renamed'
  readonly expected?: unknown
  readonly actual?: unknown
  /** The number of items in both lists; only for items that were added or removed. */
  readonly lengths?: { readonly expected: number; readonly actual: number }
  /** The format that a text has lost; only if `kind` is `format`. */
  readonly format?: TextFormat
  /** The changed parts of a text that is prose. */
  readonly parts?: readonly ChangedPart[]
  /** Both texts with the times of the other session, where these have the same relation to its clock. */
  readonly timed?: { readonly expected: string; readonly actual: string }
  /** The whole texts, if the difference is inside of a structured text that is not JSON. */
  readonly within?: ChangedText
}

/** A part of a text that changed. */
export interface ChangedPart {
  /** The first line of the part in the recorded text, from 1. */
  readonly line: number
  readonly expected: string
  readonly actual: string
  /** Where the part begins in both texts, if it is known. */
  readonly from?: { readonly expected: number; readonly actual: number }
}

/** Two texts whose values were compared. */
interface ChangedText {
  readonly path: JsonPath
  readonly expected: string
  readonly actual: string
}

/** A string or number, or the name of a member, that changed to another one. */
interface ChangedScalar extends Difference {
  readonly expected: string | number
  readonly actual: string | number
}

export function isChangedScalar(difference: Difference): difference is ChangedScalar {
  return (
    (difference.kind === 'changed' || difference.kind === 'renamed') &&
    isTextOrNumber(difference.expected) &&
    isTextOrNumber(difference.actual)
  )
}

export function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof ExactNumber) return 'number'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}

/** Returns true for a name such as a UUID, a hash or a date. Names that people give have few digits, or are a word and a number. */
export function isGeneratedName(name: unknown): name is string {
  if (typeof name !== 'string' || name.length < 6 || /\s/.test(name) || NUMBERED.test(name)) return false
  return (name.match(/\d/g)?.length ?? 0) >= 3
}

const NUMBERED = /^[a-z]+[-_]?\d+$/i

import { ExactNumber } from '../json/exact-number.ts'
import type { JsonPath } from '../json/path.ts'

/** One thing that is not the same. A side that has nothing there has no member. */
export interface Difference {
  /** From the value that was compared; it goes on into JSON inside a text. */
  readonly path: JsonPath
  readonly kind: 'added' | 'removed' | 'changed' | 'type'
  readonly expected?: unknown
  readonly actual?: unknown
}

/** A text or number that has become another text or number. */
interface ChangedScalar extends Difference {
  readonly expected: string | number
  readonly actual: string | number
}

export function isChangedScalar(difference: Difference): difference is ChangedScalar {
  return (
    difference.kind === 'changed' && isTextOrNumber(difference.expected) && isTextOrNumber(difference.actual)
  )
}

function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** The type of a value, in the words of JSON. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof ExactNumber) return 'number'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}

import { ExactNumber } from '../json/exact-number.ts'
import type { JsonPath } from '../json/path.ts'

/** One difference between two values. `expected` is absent for an addition, `actual` for a removal. */
export interface Difference {
  /** Path from the compared value. It continues into JSON inside a string. */
  readonly path: JsonPath
  readonly kind: 'added' | 'removed' | 'changed' | 'type'
  readonly expected?: unknown
  readonly actual?: unknown
}

/** A string or number that changed to another string or number. */
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

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof ExactNumber) return 'number'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}

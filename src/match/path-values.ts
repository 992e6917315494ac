import { isObject } from '../protocol/message.ts'
import { EVERY_ITEM, type PathPattern, type PathSegment } from '../json/path.ts'

/** The value at a path that names one place; undefined when there is none. */
export function valueAtPath(root: unknown, path: PathPattern): unknown {
  return valuesAtPattern(root, path)[0]
}

/** The values at a path, which may name every item of an array. */
export function valuesAtPattern(root: unknown, path: PathPattern): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (values, segment) => values.flatMap((value) => childValues(value, segment)),
    [root],
  )
}

function childValues(value: unknown, segment: PathSegment): readonly unknown[] {
  if (Array.isArray(value)) {
    if (segment === EVERY_ITEM) return value
    return typeof segment === 'number' && segment < value.length ? [value[segment]] : []
  }
  return isObject(value) && typeof segment === 'string' && Object.hasOwn(value, segment)
    ? [value[segment]]
    : []
}

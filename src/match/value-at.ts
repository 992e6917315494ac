import { isObject } from '../wire/message.ts'
import { EVERY, type Path, type Segment } from '../wire/path.ts'

/** The value at a path that names one place; undefined when there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  return valuesAt(root, path)[0]
}

/** The values at a path, which may name every item of an array. */
export function valuesAt(root: unknown, path: Path): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (values, segment) => values.flatMap((value) => inside(value, segment)),
    [root],
  )
}

function inside(value: unknown, segment: Segment): readonly unknown[] {
  if (Array.isArray(value)) {
    if (segment === EVERY) return value
    return typeof segment === 'number' && segment < value.length ? [value[segment]] : []
  }
  return isObject(value) && typeof segment === 'string' && Object.hasOwn(value, segment)
    ? [value[segment]]
    : []
}

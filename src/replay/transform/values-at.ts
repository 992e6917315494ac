import { isObject } from '../../wire/message.ts'
import { EVERY, type Path, type Segment } from '../../wire/path.ts'

/** Every value that stands at a path. */
export function valuesAt(value: unknown, path: Path): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (found, segment) => found.flatMap((one) => childrenAt(one, segment)),
    [value],
  )
}

function childrenAt(value: unknown, segment: Segment): readonly unknown[] {
  if (segment === EVERY) return Array.isArray(value) ? value : []
  if (typeof segment === 'number')
    return Array.isArray(value) && segment < value.length ? [value[segment]] : []
  return isObject(value) && Object.hasOwn(value, segment) ? [value[segment]] : []
}

import { isObject } from '../../protocol/message.ts'
import { EVERY_ITEM, type PathPattern, type PathSegment } from '../../json/path.ts'

/** Every value that stands at a path. */
export function valuesAtRulePath(value: unknown, path: PathPattern): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (found, segment) => found.flatMap((one) => childrenAt(one, segment)),
    [value],
  )
}

function childrenAt(value: unknown, segment: PathSegment): readonly unknown[] {
  if (segment === EVERY_ITEM) return Array.isArray(value) ? value : []
  if (typeof segment === 'number')
    return Array.isArray(value) && segment < value.length ? [value[segment]] : []
  return isObject(value) && Object.hasOwn(value, segment) ? [value[segment]] : []
}

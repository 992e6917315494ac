import { EVERY_ITEM, type PathPattern, type PathSegment } from '../json/path.ts'
import { isObject, type JsonObject } from '../protocol/message.ts'

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

/** The value with everything at the paths left out; the value itself is not touched. */
export function omitPaths(value: unknown, paths: readonly PathPattern[]): unknown {
  if (paths.length === 0) return value
  if (Array.isArray(value)) return omitFromArray(value, paths)
  return isObject(value) ? omitFromObject(value, paths) : value
}

function omitFromArray(items: readonly unknown[], paths: readonly PathPattern[]): readonly unknown[] {
  const kept: unknown[] = []
  for (const [place, item] of items.entries()) {
    const inside = childPaths(paths, (segment) => segment === place || segment === EVERY_ITEM)
    if (!endsHere(inside)) kept.push(omitPaths(item, inside))
  }
  return kept
}

function omitFromObject(object: JsonObject, paths: readonly PathPattern[]): JsonObject {
  const kept: [string, unknown][] = []
  for (const [name, value] of Object.entries(object)) {
    const inside = childPaths(paths, (segment) => segment === name)
    if (!endsHere(inside)) kept.push([name, omitPaths(value, inside)])
  }
  return Object.fromEntries(kept)
}

function childPaths(
  paths: readonly PathPattern[],
  leadsThere: (segment: PathSegment) => boolean,
): readonly PathPattern[] {
  return paths.flatMap(([first, ...rest]) => (first !== undefined && leadsThere(first) ? [rest] : []))
}

function endsHere(paths: readonly PathPattern[]): boolean {
  return paths.some((path) => path.length === 0)
}

import { isObject, type JsonObject } from '../protocol/message.ts'
import { EVERY_ITEM, type PathPattern, type PathSegment } from '../json/path.ts'

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

import { isObject, type JsonObject } from '../wire/message.ts'
import { EVERY, type Path, type Segment } from '../wire/path.ts'

/** The value with everything at the paths left out; the value itself is not touched. */
export function without(value: unknown, paths: readonly Path[]): unknown {
  if (paths.length === 0) return value
  if (Array.isArray(value)) return withoutItems(value, paths)
  return isObject(value) ? withoutMembers(value, paths) : value
}

function withoutItems(items: readonly unknown[], paths: readonly Path[]): readonly unknown[] {
  const kept: unknown[] = []
  for (const [place, item] of items.entries()) {
    const inside = pathsInside(paths, (segment) => segment === place || segment === EVERY)
    if (!endsHere(inside)) kept.push(without(item, inside))
  }
  return kept
}

function withoutMembers(object: JsonObject, paths: readonly Path[]): JsonObject {
  const kept: [string, unknown][] = []
  for (const [name, value] of Object.entries(object)) {
    const inside = pathsInside(paths, (segment) => segment === name)
    if (!endsHere(inside)) kept.push([name, without(value, inside)])
  }
  return Object.fromEntries(kept)
}

function pathsInside(paths: readonly Path[], leadsThere: (segment: Segment) => boolean): readonly Path[] {
  return paths.flatMap(([first, ...rest]) => (first !== undefined && leadsThere(first) ? [rest] : []))
}

function endsHere(paths: readonly Path[]): boolean {
  return paths.some((path) => path.length === 0)
}

import { canonicalJson } from '../wire/canonical.ts'
import { isObject, type JsonObject } from '../wire/message.ts'
import { EVERY, formatPath, type Path } from '../wire/path.ts'
import type { Comparison, Times } from './comparisons/comparison.ts'
import type { Asked } from './key.ts'
import type { RulesInScope } from './ruleset.ts'

/** A request as it is compared: what must be equal, apart from what rules govern. */
export interface Form {
  readonly asked: Asked
  /** The params without what is ignored. */
  readonly params: unknown
  /** Equal for requests that differ at most where a rule governs. */
  readonly text: string
  /** The values that rules govern, in the order of their paths. */
  readonly governed: readonly Governed[]
  readonly rules: RulesInScope
}

interface Governed {
  readonly path: string
  readonly value: unknown
  readonly comparison: Comparison
}

/** `params` are those of the request as far as they are compared. */
export function formOf(asked: Asked, params: unknown, rules: RulesInScope): Form {
  const governed: Governed[] = []
  const routes = rules.governing.map(({ path, comparison }) => ({ path: path.slice(1), comparison }))
  const marked = routes.length === 0 ? params : mark(params, { routes, at: ['params'], governed })
  governed.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { asked, params, text: canonicalJson(marked), governed, rules }
}

/** How far apart two requests of one text are, from 0 to 1; undefined when a rule does not accept the difference. */
export function governedDistance(recorded: Form, live: Form, times: Times): number | undefined {
  if (recorded.governed.length !== live.governed.length) return undefined
  let total = 0
  for (const [place, { value, comparison }] of recorded.governed.entries()) {
    const distance = comparison.distance(value, live.governed[place]?.value, times)
    if (distance === undefined) return undefined
    total += distance
  }
  return total / Math.max(1, recorded.governed.length)
}

interface Walk {
  readonly routes: readonly Route[]
  readonly at: Path
  readonly governed: Governed[]
}

interface Route {
  /** What is left of a rule's path. */
  readonly path: Path
  readonly comparison: Comparison
}

// Null is a safe mark: whatever stands in a governed place is replaced by it, in every request alike.
function mark(value: unknown, { routes, at, governed }: Walk): unknown {
  const [here] = routes.filter(({ path }) => path.length === 0)
  if (here !== undefined && value !== undefined) {
    governed.push({ path: formatPath(at), value, comparison: here.comparison })
    return null
  }
  if (Array.isArray(value)) return markItems(value, { routes, at, governed })
  return isObject(value) ? markMembers(value, { routes, at, governed }) : value
}

function markItems(items: readonly unknown[], { routes, at, governed }: Walk): readonly unknown[] {
  return items.map((item, place) => {
    const inside = routesInto(routes, (segment) => segment === place || segment === EVERY)
    return inside.length === 0 ? item : mark(item, { routes: inside, at: [...at, place], governed })
  })
}

function markMembers(object: JsonObject, { routes, at, governed }: Walk): JsonObject {
  const marked = Object.entries(object).map(([name, value]) => {
    const inside = routesInto(routes, (segment) => segment === name)
    const form = inside.length === 0 ? value : mark(value, { routes: inside, at: [...at, name], governed })
    return [name, form] as const
  })
  return Object.fromEntries(marked)
}

function routesInto(
  routes: readonly Route[],
  leadsThere: (segment: Path[number]) => boolean,
): readonly Route[] {
  return routes.flatMap(({ path: [first, ...path], comparison }) =>
    first !== undefined && leadsThere(first) ? [{ path, comparison }] : [],
  )
}

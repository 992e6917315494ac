import { canonicalJson } from '../json/canonical.ts'
import { EVERY_ITEM, formatPath, type PathPattern } from '../json/path.ts'
import type { Comparison, RequestTimes } from './comparisons/comparison.ts'
import { diffFields, type FieldDiff, type FieldEquality } from './field-diff.ts'
import type { ClientCall } from '../tape/turns.ts'
import { type ScopedRules, comparisonAt } from './rules.ts'
import { isObject, type JsonObject } from '../json/parse.ts'

/** A request, prepared for comparison. */
export interface ComparableRequest {
  readonly request: ClientCall
  /** The params without ignored paths. */
  readonly params: unknown
  /** Requests with equal texts differ only in values that rules compare. */
  readonly text: string
  /** The values that rules compare, sorted by path. */
  readonly ruleValues: readonly RuleValue[]
  readonly rules: ScopedRules
}

interface RuleValue {
  readonly path: string
  readonly value: unknown
  readonly comparison: Comparison
}

/** `params` are the params that the strategy compares. */
export function toComparableRequest(
  request: ClientCall,
  params: unknown,
  rules: ScopedRules,
): ComparableRequest {
  const ruleValues: RuleValue[] = []
  const routes = rules.governing.map(({ path, comparison }) => ({ path: path.slice(1), comparison }))
  const marked = routes.length === 0 ? params : maskRuleValues(params, { routes, at: ['params'], ruleValues })
  ruleValues.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { request, params, text: canonicalJson(marked), ruleValues, rules }
}

/** Returns the distance of two requests with equal texts, from 0 to 1, and `undefined` if a rule does not accept a difference. */
export function distanceByRules(
  recorded: ComparableRequest,
  live: ComparableRequest,
  times: RequestTimes,
): number | undefined {
  if (recorded.ruleValues.length !== live.ruleValues.length) return undefined
  let total = 0
  for (const [place, { value, comparison }] of recorded.ruleValues.entries()) {
    const distance = comparison.distance(value, live.ruleValues[place]?.value, times)
    if (distance === undefined) return undefined
    total += distance
  }
  return total / Math.max(1, recorded.ruleValues.length)
}

interface MaskWalk {
  readonly routes: readonly Route[]
  readonly at: PathPattern
  readonly ruleValues: RuleValue[]
}

interface Route {
  /** The rest of a rule's path. */
  readonly path: PathPattern
  readonly comparison: Comparison
}

// Values that rules compare are replaced by null in all requests, so null cannot be confused with a real value.
function maskRuleValues(value: unknown, { routes, at, ruleValues }: MaskWalk): unknown {
  const [here] = routes.filter(({ path }) => path.length === 0)
  if (here !== undefined && value !== undefined) {
    ruleValues.push({ path: formatPath(at), value, comparison: here.comparison })
    return null
  }
  if (Array.isArray(value)) return maskItems(value, { routes, at, ruleValues })
  return isObject(value) ? maskMembers(value, { routes, at, ruleValues }) : value
}

function maskItems(items: readonly unknown[], { routes, at, ruleValues }: MaskWalk): readonly unknown[] {
  return items.map((item, place) => {
    const inside = childRoutes(routes, (segment) => segment === place || segment === EVERY_ITEM)
    return inside.length === 0
      ? item
      : maskRuleValues(item, { routes: inside, at: [...at, place], ruleValues })
  })
}

function maskMembers(object: JsonObject, { routes, at, ruleValues }: MaskWalk): JsonObject {
  const marked = Object.entries(object).map(([name, value]) => {
    const inside = childRoutes(routes, (segment) => segment === name)
    const form =
      inside.length === 0 ? value : maskRuleValues(value, { routes: inside, at: [...at, name], ruleValues })
    return [name, form] as const
  })
  return Object.fromEntries(marked)
}

function childRoutes(
  routes: readonly Route[],
  leadsThere: (segment: PathPattern[number]) => boolean,
): readonly Route[] {
  return routes.flatMap(({ path: [first, ...path], comparison }) =>
    first !== undefined && leadsThere(first) ? [{ path, comparison }] : [],
  )
}

/** Compares two requests field by field. Where a rule applies, the rule decides whether a field differs. */
export function diffRequests(
  recorded: ComparableRequest,
  live: ComparableRequest,
  times: RequestTimes,
): FieldDiff {
  const { rules } = recorded
  const equality: FieldEquality = (path, then, now) => {
    const comparison = comparisonAt(rules, path)
    return comparison && comparison.distance(then, now, times) !== undefined
  }
  const root = ['params']
  if (rules.governing.length === 0) return diffFields(recorded.params, live.params, root)
  return diffFields(recorded.params, live.params, root, equality)
}

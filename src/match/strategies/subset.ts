import { canonicalJson } from '../../json/canonical.ts'
import { isObject, member } from '../../json/parse.ts'
import type { PathPattern } from '../../json/path.ts'
import type { RequestTimes } from '../comparisons/comparison.ts'
import { diffRequests, type ComparableRequest } from '../comparable-request.ts'
import { comparisonAt } from '../rules.ts'
import { methodAndParams } from './method-and-params.ts'
import type { Strategy } from './strategy.ts'

export const subset: Strategy = {
  ...methodAndParams,
  name: 'subset',
  alias: 'fuzzy',
  isLoose: true,
  about: 'the same method and tool, and every param that the client sends was recorded with that value',
  groupOf: ({ params }) => NAMES.map((name) => member(params, name) ?? null),
  distance: (recorded, live, times) =>
    isWithin(live.params, recorded.params, ['params'], { recorded, times })
      ? diffRequests(recorded, live, times).distance
      : undefined,
}

// These params must be equal even if the client leaves them out: without a cursor, for example, it asks for the first page.
const NAMES = ['name', 'uri', 'ref', 'cursor', 'taskId']

interface Context {
  readonly recorded: ComparableRequest
  readonly times: RequestTimes
}

function isWithin(live: unknown, recorded: unknown, at: PathPattern, context: Context): boolean {
  const comparison = comparisonAt(context.recorded.rules, at)
  if (comparison !== undefined) return comparison.distance(recorded, live, context.times) !== undefined
  if (live === undefined) return recorded === undefined || isObject(recorded)
  if (!isObject(live) || !isObject(recorded) || at.length > DEEPEST)
    return canonicalJson(live) === canonicalJson(recorded)
  return Object.entries(live).every(
    ([name, value]) =>
      Object.hasOwn(recorded, name) && isWithin(value, recorded[name], [...at, name], context),
  )
}

// Deeper values are compared as a whole, so that a hostile request cannot exhaust the stack.
const DEEPEST = 60

import type { RequestTimes } from './comparisons/comparison.ts'
import { diffFields, type FieldDiff, type FieldEquality } from './field-diff.ts'
import type { ComparableRequest } from './comparable-request.ts'
import { comparisonAt } from './ruleset.ts'

/** What differs between two requests, field by field; where a rule governs, the rule decides. */
export function diffRequests(
  recorded: ComparableRequest,
  live: ComparableRequest,
  times: RequestTimes,
): FieldDiff {
  const { rules } = recorded
  const verdict: FieldEquality = (path, then, now) => {
    const comparison = comparisonAt(rules, path)
    return comparison && comparison.distance(then, now, times) !== undefined
  }
  const root = ['params']
  if (rules.governing.length === 0) return diffFields(recorded.params, live.params, root)
  return diffFields(recorded.params, live.params, root, verdict)
}

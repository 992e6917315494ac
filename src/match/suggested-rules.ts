import { formatPath, type PathPattern } from '../json/path.ts'
import type { Comparison, RequestTimes } from './comparisons/comparison.ts'
import { relativeDateKind } from './comparisons/relative-date.merging.ts'
import { caseInsensitiveKind, trimKind } from './comparisons/text.ts'
import { unorderedKind } from './comparisons/unordered.ts'
import type { TapeLookup } from './evidence.ts'
import type { NearestRequest } from './miss/nearest.ts'
import type { MatchRule, MatchRuleScope } from './rules.ts'
import { valueAtPath } from './path-values.ts'

/** Rules that accept differences for what they seem to be; whether they are enough is for a trial to say. */
export function suggestRules(
  { entry, differences }: NearestRequest,
  scope: MatchRuleScope,
  { evidence, got }: { evidence: TapeLookup; got: unknown },
): readonly MatchRule[] {
  const times = evidence.timesOf(entry)
  const sides = { recorded: { params: entry.request.params }, got: { params: got } }
  const found = differences.map(({ path }) => suggestRuleAt(path, sides, times))
  return distinctRules(found.flatMap((rule) => (rule === undefined ? [] : [{ ...scope, ...rule }])))
}

type Suggestion = Pick<MatchRule, 'path' | 'comparison'>

interface SuggestionSides {
  readonly recorded: unknown
  readonly got: unknown
}

// The nearest to equality first.
const VALUE_COMPARISONS: readonly Comparison[] = [trimKind, caseInsensitiveKind, relativeDateKind].map(
  (kind) => kind.parse(''),
)
const ARRAY_COMPARISONS: readonly Comparison[] = [unorderedKind.parse('')]

function suggestRuleAt(
  path: PathPattern,
  sides: SuggestionSides,
  times: RequestTimes,
): Suggestion | undefined {
  const accepts = (at: PathPattern) => (comparison: Comparison) =>
    comparison.distance(valueAtPath(sides.recorded, at), valueAtPath(sides.got, at), times) !== undefined
  const comparison = VALUE_COMPARISONS.find(accepts(path))
  if (comparison !== undefined) return { path, comparison }
  const array = typeof path.at(-1) === 'number' ? path.slice(0, -1) : undefined
  const ofArray = array === undefined ? undefined : ARRAY_COMPARISONS.find(accepts(array))
  return array === undefined || ofArray === undefined ? undefined : { path: array, comparison: ofArray }
}

function distinctRules(rules: readonly MatchRule[]): readonly MatchRule[] {
  return [
    ...new Map(rules.map((rule) => [`${formatPath(rule.path)} ${rule.comparison.text}`, rule])).values(),
  ]
}

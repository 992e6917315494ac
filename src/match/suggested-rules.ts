import { formatPath, type Path } from '../wire/path.ts'
import type { Comparison, Times } from './comparisons/comparison.ts'
import { relativeDateKind } from './comparisons/relative-date.ts'
import { caseInsensitiveKind, trimKind } from './comparisons/text.ts'
import { unorderedKind } from './comparisons/unordered.ts'
import type { Evidence } from './evidence.ts'
import type { Candidate } from './nearest.ts'
import type { Rule, RuleScope } from './rule.ts'
import { valueAt } from './value-at.ts'

/** Rules that accept differences for what they seem to be; whether they are enough is for a trial to say. */
export function fittingRules(
  { entry, differences }: Candidate,
  scope: RuleScope,
  { evidence, got }: { evidence: Evidence; got: unknown },
): readonly Rule[] {
  const times = evidence.timesOf(entry)
  const sides = { recorded: { params: entry.request.params }, got: { params: got } }
  const found = differences.map(({ path }) => suggestionAt(path, sides, times))
  return distinct(found.flatMap((rule) => (rule === undefined ? [] : [{ ...scope, ...rule }])))
}

type Suggestion = Pick<Rule, 'path' | 'comparison'>

interface Sides {
  readonly recorded: unknown
  readonly got: unknown
}

// The nearest to equality first.
const FOR_VALUES: readonly Comparison[] = [trimKind, caseInsensitiveKind, relativeDateKind].map((kind) =>
  kind.parse(''),
)
const FOR_ARRAYS: readonly Comparison[] = [unorderedKind.parse('')]

function suggestionAt(path: Path, sides: Sides, times: Times): Suggestion | undefined {
  const accepts = (at: Path) => (comparison: Comparison) =>
    comparison.distance(valueAt(sides.recorded, at), valueAt(sides.got, at), times) !== undefined
  const comparison = FOR_VALUES.find(accepts(path))
  if (comparison !== undefined) return { path, comparison }
  const array = typeof path.at(-1) === 'number' ? path.slice(0, -1) : undefined
  const ofArray = array === undefined ? undefined : FOR_ARRAYS.find(accepts(array))
  return array === undefined || ofArray === undefined ? undefined : { path: array, comparison: ofArray }
}

function distinct(rules: readonly Rule[]): readonly Rule[] {
  return [
    ...new Map(rules.map((rule) => [`${formatPath(rule.path)} ${rule.comparison.text}`, rule])).values(),
  ]
}

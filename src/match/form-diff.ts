import type { Times } from './comparisons/comparison.ts'
import { diffFields, type FieldDiff } from './field-diff.ts'
import type { Form } from './form.ts'
import { comparisonAt } from './ruleset.ts'

/** What differs between two requests, field by field; what a rule accepts is no difference. */
export function formDiff(recorded: Form, live: Form, times: Times): FieldDiff {
  const { rules } = recorded
  return diffFields(
    recorded.params,
    live.params,
    ['params'],
    rules.governing.length === 0
      ? undefined
      : (path, then, now) => comparisonAt(rules, path)?.distance(then, now, times) !== undefined,
  )
}

import { canonicalJson } from '../../json/canonical.ts'
import { valuesAtRulePath } from './values-at.ts'
import type { TransformCondition, TransformSubject } from './rule.ts'

/** Whether a rule is meant for this message. */
export function conditionHolds(condition: TransformCondition, passing: TransformSubject): boolean {
  const { message, index, tool } = passing
  switch (condition.kind) {
    case 'always':
      return true
    case 'method':
      return 'method' in message && message.method === condition.equals
    case 'message-type':
      return message.kind === condition.equals
    case 'index':
      return index === condition.equals
    case 'tool':
      return tool === condition.equals
    case 'path':
      return 'params' in message && hasAt(message.params, condition)
    case 'custom':
      return condition.test(passing)
  }
}

function hasAt(params: unknown, condition: Extract<TransformCondition, { kind: 'path' }>): boolean {
  const found = valuesAtRulePath(params, condition.path)
  if (!('equals' in condition)) return found.length > 0
  const wanted = canonicalJson(condition.equals)
  return found.some((value) => canonicalJson(value) === wanted)
}

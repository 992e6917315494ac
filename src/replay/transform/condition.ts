import { canonicalJson } from '../../wire/canonical.ts'
import { valuesAt } from './values-at.ts'
import type { Condition, Passing } from './rule.ts'

/** Whether a rule is meant for this message. */
export function holds(condition: Condition, passing: Passing): boolean {
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

function hasAt(params: unknown, condition: Extract<Condition, { kind: 'path' }>): boolean {
  const found = valuesAt(params, condition.path)
  if (!('equals' in condition)) return found.length > 0
  const wanted = canonicalJson(condition.equals)
  return found.some((value) => canonicalJson(value) === wanted)
}

import type { Setting } from '../../config/setting.ts'
import type { JudgedAnswer } from '../judge/judged-answer.ts'
import type { RuleComparison, ValidationRule } from '../judge/comparison-rules.ts'
import { readPaths } from './paths.ts'

/** One item of `validation.rules`: how some answers are compared, and what a difference means. */
export function readValidationRule(item: Setting): ValidationRule {
  const { name, appliesTo, kind, onFailure } = item.members(['name', 'appliesTo', 'kind', 'onFailure'])
  if (name === undefined || kind === undefined) throw item.invalid('needs "name" and "kind"')
  return {
    name: name.text(),
    appliesTo: appliesTo === undefined ? { kind: 'all' } : readScope(appliesTo),
    kind: readComparison(kind),
    onFailure: onFailure?.choice(['ignore', 'warn', 'error', 'retry', 'skip'])[0] ?? 'error',
  }
}

function readScope(setting: Setting): ValidationRule['appliesTo'] {
  const [kind, value] = setting.choice(['all', 'method', 'tool', 'messageType', 'custom'])
  switch (kind) {
    case 'all':
      return { kind }
    case 'messageType':
      return { kind: 'message-type', equals: value.choice(['result', 'error'])[0] }
    case 'custom': {
      const test = value.function()
      return { kind, test: (judged) => Boolean(test(judged)) }
    }
    case 'method':
    case 'tool':
      return { kind, equals: value.text() }
  }
}

function readComparison(setting: Setting): RuleComparison {
  const [kind, value] = setting.choice(['exact', 'structural', 'partial', 'custom'])
  if (kind === 'custom') return { kind, check: checkIn(value) }
  if (kind !== 'partial' || value.value === undefined) return { kind }
  const { required } = value.members(['required'])
  return { kind, ...(required && { required: readPaths(required) }) }
}

function checkIn(setting: Setting): (judged: JudgedAnswer) => string | undefined {
  const check = setting.function()
  return (judged) => {
    const wrong = check(judged)
    return typeof wrong === 'string' && wrong !== '' ? wrong : undefined
  }
}

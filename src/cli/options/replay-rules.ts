import type { Setting } from '../../config/setting.ts'
import type { Environment } from './option.ts'
import { isObject } from '../../protocol/message.ts'
import { parsePath, type PathPattern } from '../../json/path.ts'
import type { RuleComparison, ValidationRule } from '../../replay/judge/comparison-rules.ts'
import type { JudgedAnswer } from '../../replay/judge/judged-answer.ts'
import {
  parseJsonPath,
  type TransformAction,
  type TransformCondition,
  type TransformRule,
  withEnvironment,
} from '../../replay/transform/rule.ts'

/** Reads an item of `transformations`: a name, a condition and an action. */
export function readTransformation(item: Setting, env: Environment): TransformRule {
  const { name, condition, action } = item.members(['name', 'condition', 'action'])
  if (name === undefined || action === undefined) throw item.invalid('needs "name" and "action"')
  return {
    name: name.text(),
    when: condition === undefined ? { kind: 'always' } : readCondition(condition),
    action: readAction(action, env),
  }
}

function readCondition(setting: Setting): TransformCondition {
  const [kind, value] = setting.choice(CONDITIONS)
  switch (kind) {
    case 'always':
      return { kind }
    case 'methodEquals':
      return { kind: 'method', equals: value.text() }
    case 'messageType':
      return { kind: 'message-type', equals: value.choice(['request', 'notification'])[0] }
    case 'index':
      return { kind, equals: value.number() }
    case 'tool':
      return { kind, equals: value.text() }
    case 'path':
      return pathCondition(value)
    case 'custom': {
      const test = value.function()
      return { kind, test: (passing) => Boolean(test(passing)) }
    }
  }
}

const CONDITIONS = ['always', 'methodEquals', 'messageType', 'index', 'tool', 'path', 'custom'] as const

function pathCondition(setting: Setting): TransformCondition {
  if (typeof setting.value === 'string') return { kind: 'path', path: pathIn(setting) }
  const { path, equals } = setting.members(['path', 'equals'])
  return {
    kind: 'path',
    path: pathIn(needed(setting, path, 'path')),
    ...(equals && { equals: equals.value }),
  }
}

function readAction(setting: Setting, env: Environment): TransformAction {
  const [kind, given] = setting.choice(ACTIONS)
  switch (kind) {
    case 'regenerateId':
      return { kind: 'regenerate-id' }
    case 'mapId': {
      const { from, to } = given.members(['from', 'to'])
      return { kind: 'map-id', from: idIn(needed(given, from, 'from')), to: idIn(needed(given, to, 'to')) }
    }
    case 'setParam':
      return { kind: 'set-param', ...pathAndValue(given, env) }
    case 'removeParam':
      return { kind: 'remove-param', path: onePath(given) }
    case 'replaceParam':
      return replacing(given, env)
    case 'setResult':
      return { kind: 'set-result', ...pathAndValue(given, env) }
    case 'injectError':
      return injecting(given)
    case 'renameMethod':
      return { kind: 'rename-method', to: given.text() }
    case 'delay':
      return { kind: 'delay', by: given.duration() }
    case 'setTimestamp':
      return { kind: 'set-timestamp', path: onePath(given) }
  }
}

const ACTIONS = [
  'regenerateId',
  'mapId',
  'setParam',
  'removeParam',
  'replaceParam',
  'setResult',
  'injectError',
  'renameMethod',
  'delay',
  'setTimestamp',
] as const

function pathAndValue(setting: Setting, env: Environment): { path: PathPattern; value: unknown } {
  const { path, value } = setting.members(['path', 'value'])
  return { path: pathIn(needed(setting, path, 'path')), value: filled(needed(setting, value, 'value'), env) }
}

function replacing(setting: Setting, env: Environment): TransformAction {
  const { path, pattern, replacement } = setting.members(['path', 'pattern', 'replacement'])
  const [source, written] = [needed(setting, pattern, 'pattern'), needed(setting, replacement, 'replacement')]
  return {
    kind: 'replace-param',
    path: pathIn(needed(setting, path, 'path')),
    pattern: source.value instanceof RegExp ? source.value : source.as(() => new RegExp(source.text(), 'g')),
    replacement: written.as(() => withEnvironment(String(written.value), env)),
  }
}

function injecting(setting: Setting): TransformAction {
  const { code, message } = setting.members(['code', 'message'])
  const number = needed(setting, code, 'code')
  if (!Number.isInteger(number.value)) throw number.invalid('is not a whole number')
  return {
    kind: 'inject-error',
    code: Number(number.value),
    message: needed(setting, message, 'message').text(),
  }
}

/** Reads a path, or a map with the member `path`. */
function onePath(setting: Setting): PathPattern {
  if (typeof setting.value === 'string') return pathIn(setting)
  return pathIn(needed(setting, setting.members(['path']).path, 'path'))
}

function pathIn(setting: Setting): PathPattern {
  return setting.as(() => parseJsonPath(setting.text()))
}

function idIn(setting: Setting): string | number {
  return typeof setting.value === 'number' ? setting.value : setting.text()
}

function needed(holder: Setting, member: Setting | undefined, name: string): Setting {
  if (member === undefined) throw holder.invalid(`needs "${name}"`)
  return member
}

/** Replaces environment references in every text of a value. */
function filled(setting: Setting, env: Environment): unknown {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return withEnvironment(value, env)
    if (Array.isArray(value)) return value.map(fill)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one)]))
  }
  return setting.as(() => fill(setting.value))
}

/** Reads an item of `validation.rules`: how some responses are compared, and what a difference means. */
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

/** Reads paths in a response. An invalid path is rejected here, where its line is known. */
function readPaths(setting: Setting): readonly string[] {
  return setting.items().map((item) =>
    item.as(() => {
      parsePath(item.text())
      return item.text()
    }),
  )
}

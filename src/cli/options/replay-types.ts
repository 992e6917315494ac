import { ReelayError } from '../../errors.ts'
import { parsePath, type PathPattern } from '../../json/path.ts'
import type { ValidationRule, RuleComparison } from '../../replay/judge/comparison-rules.ts'
import type { Ordering } from '../../replay/plan/schedule.ts'
import { parseSpeed, type Timing } from '../../replay/plan/timing.ts'
import type { ErrorInjection } from '../../replay/send/request-faults.ts'
import {
  parseSetRule,
  type TransformRule,
  parseJsonPath,
  type TransformAction,
  type TransformCondition,
  withEnvironment,
} from '../../replay/transform/rule.ts'
import { canonicalPace } from './live-options.ts'
import type { ValueType, Environment } from './option.ts'
import { checkedText, choiceOf, listOf, seedValue } from './option-types.ts'
import type { Setting } from '../../config/setting.ts'
import { isObject } from '../../json/parse.ts'
import type { JudgedAnswer } from '../../replay/judge/judge.ts'

const PACE_VALUES =
  'none, recorded, stepped, a factor such as x2, a delay such as 100ms or a rate such as 50rps'

export const replayPace: ValueType<Timing> = {
  kind: 'value',
  name: 'pace',
  placeholder: 'pace',
  expected: PACE_VALUES,
  parse: parsePace,
  schema: { $ref: '#/$defs/pace' },
  fromConfig: (setting) => {
    if (typeof setting.value === 'function') {
      const delay = setting.function()
      return { kind: 'custom', delay: (previous, next) => Number(delay(previous, next)) }
    }
    const timing = parsePace(String(setting.value))
    if (timing === undefined) throw setting.invalid(`is not a pace (expected ${PACE_VALUES})`)
    return timing
  },
}

/** `none` and `recorded` mean the same as in `serve`; the library calls them `fast` and `original`. */
function parsePace(text: string): Timing | undefined {
  const pace = canonicalPace(text)
  if (pace === 'none') return { kind: 'fast' }
  return pace === 'recorded' ? { kind: 'original' } : parseSpeed(pace)
}

export const transformRules: ValueType<readonly TransformRule[]> = {
  kind: 'value',
  name: 'rule',
  placeholder: 'method:path=value',
  expected: 'method:path=value',
  parse: (given, env) => [parseSetRule(given, env)],
  join: (before, after) => [...before, ...after],
  schema: { type: 'array', items: { $ref: '#/$defs/transformation' } },
  fromConfig: (setting, env) => setting.items().map((item) => readTransformation(item, env)),
}

/** Only a config can hold these rules. */
export const validationRules: ValueType<readonly ValidationRule[]> = {
  kind: 'value',
  name: 'rule',
  placeholder: 'rule',
  expected: 'rules in the config',
  parse: () => undefined,
  schema: { type: 'array', items: { $ref: '#/$defs/validationRule' } },
  fromConfig: (setting) => setting.items().map(readValidationRule),
}

export const responsePath: ValueType<string> = {
  ...checkedText('path', checkResponsePath),
  schema: { $ref: '#/$defs/responsePath' },
  fromConfig: (setting) => {
    setting.as(() => checkResponsePath(setting.text()))
    return setting.text()
  },
}

/** A path that starts anywhere else would match nothing. */
function checkResponsePath(path: string): void {
  const [root] = parsePath(path)
  if (root === 'result' || root === 'error') return
  throw new ReelayError(
    'PATH_INVALID',
    `the path ${JSON.stringify(path)} does not start at "result" or "error"`,
    { hint: 'replay and verify compare responses: write it like result.content[0].text' },
  )
}

/** A share: 0.05 from `5` or `5%` on the command line, from `0.05` or `5%` in the config. */
export const tolerance: ValueType<number> = {
  kind: 'value',
  name: 'percentage',
  placeholder: 'percent',
  expected: 'e.g. 5 or 0.5%',
  parse: (given) => percentage(given.endsWith('%') ? given : `${given}%`),
  schema: { $ref: '#/$defs/share' },
  fromConfig: (setting) => percentage(String(setting.value)) ?? setting.number(),
}

function percentage(text: string): number | undefined {
  const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1]
  return percent === undefined ? undefined : Number(percent) / 100
}

type MethodPriority = readonly (readonly [method: string, rank: number])[]

const priorityOnCommandLine: ValueType<MethodPriority> = listOf({
  kind: 'value',
  name: 'priority',
  placeholder: 'method=n',
  expected: 'method=number, e.g. tools/call=2',
  parse: (given) => {
    const [, method, rank] = /^([^=]+)=(\d+(?:\.\d+)?)$/.exec(given) ?? []
    return method === undefined ? undefined : ([method, Number(rank)] as const)
  },
})

export const methodPriority: ValueType<MethodPriority> = {
  ...priorityOnCommandLine,
  schema: { $ref: '#/$defs/methodPriority' },
  fromConfig: (setting) => setting.entries().map(([method, rank]) => [method, rank.number()] as const),
}

/** The order of the messages, with what belongs to it. */
export interface ConfiguredOrder {
  readonly order: Ordering['kind']
  readonly priority?: MethodPriority
  readonly seed?: number
}

/** Only a config sets these together. */
export const configuredOrder: ValueType<ConfiguredOrder> = {
  kind: 'value',
  name: 'order',
  placeholder: 'order',
  expected: 'an order in the config',
  parse: () => undefined,
  schema: { $ref: '#/$defs/ordering' },
  fromConfig: (setting, env) => {
    const [order, given] = setting.choice(['correlated', 'sequential', 'priority', 'random'])
    if (given.value === undefined || given.value === null) return { order }
    if (order === 'priority') {
      const isNested = isObject(given.value) && /^method_?priority$/i.test(Object.keys(given.value).join())
      const ranks = isNested ? given.members(['methodPriority']).methodPriority : given
      return { order, priority: methodPriority.fromConfig?.(ranks ?? given, env) ?? [] }
    }
    const { seed } = given.members(order === 'random' ? ['seed'] : [])
    const number = seed && seedValue.fromConfig?.(seed, env)
    return number === undefined ? { order } : { order, seed: number }
  },
}

/** Only a config has them as a map: the address of `--set` and the value. */
export const parameterOverrides: ValueType<readonly TransformRule[]> = {
  kind: 'value',
  name: 'rule',
  placeholder: 'rule',
  expected: 'a map in the config',
  parse: () => undefined,
  schema: { $ref: '#/$defs/parameterOverrides' },
  fromConfig: (setting, env) =>
    setting.entries().map(([address, value]) => readOverride(address, value, env)),
}

function readOverride(address: string, setting: Setting, env: Environment): TransformRule {
  const value = filled(setting, env)
  return setting.as(() => {
    if (!address.startsWith('$')) {
      const { name, when, action } = parseSetRule(`${address}=0`, env)
      return { name: name.replace('--set', 'parameterOverrides'), when, action: { ...action, value } }
    }
    const path = parseJsonPath(address)
    return {
      name: `parameterOverrides ${address}`,
      when: { kind: 'path', path },
      action: { kind: 'set-param', path, value },
    }
  })
}

export const INJECTED_ERRORS: ErrorInjection['errors'] = ['timeout', 'disconnect', 'malformed']

// The last two are older names of faults.
const injectedError = choiceOf('timeout', 'disconnect', 'malformed', 'network-error', 'invalid-response')

/** One kind of failure, or several separated by commas. */
export const injectedErrors: ValueType<ErrorInjection['errors']> = {
  kind: 'value',
  name: injectedError.name,
  placeholder: 'kinds',
  expected: `${injectedError.expected}, or several separated by commas`,
  parse: (given, env) => {
    const kinds = given.split(',').map((word) => injectedError.parse(word.trim(), env))
    const [first, ...others] = kinds.filter((kind) => kind !== undefined)
    return first === undefined || others.length + 1 < kinds.length ? undefined : [first, ...others]
  },
  join: ([first, ...others], after) => [first, ...others, ...after],
  schema: { $ref: '#/$defs/injectedErrors' },
  fromConfig: (setting, env) => {
    const [first, ...others] = setting.items().map((item) => {
      const kind = injectedError.parse(item.text().replaceAll('_', '-'), env)
      if (kind === undefined) throw item.invalid(`must be ${injectedError.expected}`)
      return kind
    })
    if (first === undefined) throw setting.invalid('is empty')
    return [first, ...others]
  },
}

/** Reads an item of `transformations`: a name, a condition and an action. */
function readTransformation(item: Setting, env: Environment): TransformRule {
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
      return settingTimestamp(given)
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

function settingTimestamp(setting: Setting): TransformAction {
  if (typeof setting.value === 'string') return { kind: 'set-timestamp', path: pathIn(setting) }
  const { path, date } = setting.members(['path', 'date'])
  return {
    kind: 'set-timestamp',
    path: pathIn(needed(setting, path, 'path')),
    ...(date && { date: dateIn(date) }),
  }
}

// YAML has dates of its own, and they are read as such.
function dateIn(setting: Setting): string {
  const date = setting.value instanceof Date ? setting.value : new Date(setting.text())
  if (Number.isNaN(date.getTime())) throw setting.invalid('is not a date such as 2026-01-31T12:00:00Z')
  return date.toISOString()
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
function readValidationRule(item: Setting): ValidationRule {
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

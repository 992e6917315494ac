import type { Setting } from '../../config/setting.ts'
import { parsePath } from '../../json/path.ts'
import type { RuleComparison, ValidationRule } from '../judge/comparison-rules.ts'
import type { JudgedAnswer } from '../judge/judged-answer.ts'
import type { ReplayOptions } from '../options.ts'
import { type Timing, parseSpeed, SPEED_HINT } from '../plan/timing.ts'
import { readTransformation } from './transform-rules.ts'

/** What a config says of every replay. Permission to write and the target are not its to give. */
export type ReplaySettings = Omit<ReplayOptions, 'target' | 'allow' | 'allowWrites' | 'controller' | 'signal'>

type Environment = Readonly<Record<string, string | undefined>>

/** The `replay` section of a config. */
export function readReplaySection(section: Setting, env: Environment): ReplaySettings {
  const { defaults, validation, tolerance, transformations, errorHandling, performance } = section.members([
    'defaults',
    'validation',
    'tolerance',
    'transformations',
    'errorHandling',
    'performance',
  ])
  const [first, second] = [defaults && readDefaults(defaults), validation && readValidation(validation)]
  const validate = first?.validate === false || second?.validate === false ? { validate: false } : {}
  return {
    ...first,
    ...second,
    ...validate,
    ...(tolerance && readTolerance(tolerance)),
    ...(transformations && { rules: transformations.items().map((item) => readTransformation(item, env)) }),
    ...(errorHandling && readErrorHandling(errorHandling)),
    ...(performance && readPerformance(performance)),
  }
}

function readDefaults(section: Setting): ReplaySettings {
  const { speed, validateResponses, transformIds, updateTimestamps, timeout } = section.members([
    'speed',
    'validateResponses',
    'transformIds',
    'updateTimestamps',
    'timeout',
  ])
  return {
    ...(speed && { timing: readSpeed(speed) }),
    ...(validateResponses && { validate: validateResponses.flag() }),
    ...(transformIds && { transformIds: transformIds.flag() }),
    ...(updateTimestamps && { updateTimestamps: updateTimestamps.flag() }),
    ...(timeout && { timeout: timeout.duration() }),
  }
}

function readSpeed(setting: Setting): Timing {
  if (typeof setting.value === 'function') {
    const delay = setting.function()
    return { kind: 'custom', delay: (previous, next) => Number(delay(previous, next)) }
  }
  const timing = parseSpeed(String(setting.value))
  if (timing === undefined) throw setting.invalid(`cannot be used: ${SPEED_HINT}`)
  return timing
}

function readValidation(section: Setting): ReplaySettings {
  const { enabled, strictMode, officialSchema, ignoreFields, ignore, unordered, rules, tolerance } =
    section.members([
      'enabled',
      'strictMode',
      'officialSchema',
      'ignoreFields',
      'ignore',
      'unordered',
      'rules',
      'tolerance',
    ])
  return {
    ...(tolerance && readTolerance(tolerance)),
    ...(enabled && { validate: enabled.flag() }),
    ...(strictMode && { strict: strictMode.flag() }),
    ...(officialSchema && { officialSchema: officialSchema.choice(['changed', 'always', 'off'])[0] }),
    ...(ignoreFields && { ignoreFields: ignoreFields.texts() }),
    ...(ignore && { ignore: readPaths(ignore) }),
    ...(unordered && { unordered: readPaths(unordered) }),
    ...(rules && { validation: rules.items().map(readValidationRule) }),
  }
}

function readTolerance(section: Setting): ReplaySettings {
  const { numeric, timing } = section.members(['numeric', 'timing'])
  return {
    ...(numeric && { numeric: readShare(numeric) }),
    ...(timing && { slower: timing.duration() }),
  }
}

/** `0.01`, or `1%`. */
function readShare(setting: Setting): number {
  const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(String(setting.value))?.[1]
  return percent === undefined ? setting.number() : Number(percent) / 100
}

function readErrorHandling(section: Setting): ReplaySettings {
  const { strategy, maxRetries, retryDelay } = section.members(['strategy', 'maxRetries', 'retryDelay'])
  return {
    ...(strategy && { onError: strategy.choice(['continue', 'pause', 'stop', 'retry'])[0] }),
    ...(maxRetries && { maxRetries: maxRetries.number() }),
    ...(retryDelay && { retryDelay: retryDelay.duration() }),
  }
}

function readPerformance(section: Setting): ReplaySettings {
  const { parallelExecution, maxConcurrent, bufferSize } = section.members([
    'parallelExecution',
    'maxConcurrent',
    'bufferSize',
  ])
  return {
    ...(maxConcurrent && { maxConcurrent: maxConcurrent.count() }),
    ...(parallelExecution && !parallelExecution.flag() && { maxConcurrent: 1 }),
    ...(bufferSize && { bufferSize: bufferSize.count() }),
  }
}

/** One item of `validation.rules`: how some answers are compared, and what a difference means. */
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

/** Paths in an answer; one that cannot be read is refused here, where its place is known. */
function readPaths(setting: Setting): readonly string[] {
  return setting.items().map((item) =>
    item.as(() => {
      parsePath(item.text())
      return item.text()
    }),
  )
}

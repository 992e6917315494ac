import type { Setting } from '../../config/setting.ts'
import type { ReplayOptions } from '../options.ts'
import type { Timing } from '../plan/timing.ts'
import { readPaths } from './paths.ts'
import { parseSpeed, SPEED_HINT } from './speed.ts'
import { readTransformation } from './transform-rules.ts'
import { readValidationRule } from './validation-setting.ts'

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

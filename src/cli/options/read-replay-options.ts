import { resolve } from 'node:path'
import type { ReplayFlags } from './replay-options.ts'
import { findProjectConfig, readProjectConfig } from '../../config/project-config.ts'
import { ReelayError } from '../../errors.ts'
import { parsePath } from '../../json/path.ts'
import type { JudgeOptions } from '../../replay/judge/comparison-rules.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import type { Ordering } from '../../replay/plan/schedule.ts'
import type { MessageSelection } from '../../replay/plan/planner.ts'
import { type Timing, parseSpeed, SPEED_HINT } from '../../replay/plan/timing.ts'
import type { ErrorInjection } from '../../replay/send/error-injection.ts'
import { readReplaySection, type ReplaySettings } from '../../replay/settings/section.ts'
import { parseSetRule } from '../../replay/transform/rule.ts'

interface ReplayRunOptions {
  readonly options: Omit<ReplayOptions, 'target'>
  /** The config that had something to say: nobody should have to wonder. */
  readonly file: string | undefined
}

/** The options of a run: the command line counts for more than the config, and lists are joined. */
export function readReplayOptions(flags: ReplayFlags): ReplayRunOptions {
  const given = readReplayFlags(flags)
  const config = findReplayConfig(flags)
  const section = config?.section('replay')
  if (section === undefined) return { options: given, file: undefined }
  return { options: mergeConfigAndFlags(readReplaySection(section, process.env), given), file: config?.file }
}

function findReplayConfig({ config }: ReplayFlags): ReturnType<typeof findProjectConfig> {
  if (typeof config === 'string') return readProjectConfig(resolve(config))
  return config === false ? undefined : findProjectConfig(process.cwd())
}

// Rules of the command line come last: they see, and may undo, what those of the config did.
function mergeConfigAndFlags(
  settings: ReplaySettings,
  given: ReplayRunOptions['options'],
): ReplayRunOptions['options'] {
  return {
    ...settings,
    ...given,
    rules: [...(settings.rules ?? []), ...(given.rules ?? [])],
    ignore: [...(settings.ignore ?? []), ...(given.ignore ?? [])],
    ignoreFields: [...(settings.ignoreFields ?? []), ...(given.ignoreFields ?? [])],
    unordered: [...(settings.unordered ?? []), ...(given.unordered ?? [])],
  }
}

/** What the command line says of a run; what it does not say is left to the config and the engine. */
function readReplayFlags(flags: ReplayFlags): Omit<ReplayOptions, 'target'> {
  rejectFlagsWithoutEffect(flags)
  return {
    ...readSelection(flags),
    ...readSending(flags),
    ...readJudging(flags),
    ...readErrorHandling(flags),
    allow: flags.allow ?? [],
    allowWrites: flags.allowWrites === true,
    ...(flags.server !== undefined && { server: flags.server }),
  }
}

function readSelection(flags: ReplayFlags): Partial<MessageSelection> {
  const { handshake, include, exclude, from, to } = flags
  return {
    ...(handshake !== undefined && {
      handshake: readChoice('--handshake', handshake, ['own', 'recorded', 'none']),
    }),
    ...(include && { include }),
    ...(exclude && { exclude }),
    ...(from !== undefined && { from: readNonNegativeNumber('--from', from) }),
    ...(to !== undefined && { to: readNonNegativeNumber('--to', to) }),
    skipNotifications: flags.skipNotifications === true,
    skipErrors: flags.skipErrors === true,
  }
}

function readSending(flags: ReplayFlags): ReplaySettings {
  const { order, pace, maxConcurrent, updateTimestamps, inject } = flags
  return {
    rules: (flags.set ?? []).map((text) => parseSetRule(text, process.env)),
    ...(order !== undefined && { ordering: readOrderOption(flags) }),
    ...(pace !== undefined && { timing: readReplayPace(pace) }),
    ...(maxConcurrent !== undefined && {
      maxConcurrent: readPositiveInteger('--max-concurrent', maxConcurrent),
    }),
    ...(flags.correlate ? {} : { correlate: false as const }),
    ...(flags.keepIds && { transformIds: false }),
    ...(updateTimestamps !== undefined && { updateTimestamps }),
    ...(inject !== undefined && { injection: readInjection(inject, flags) }),
  }
}

function readInjection(text: string, { injectErrors, injectSeed }: ReplayFlags): ErrorInjection {
  const probability = readNonNegativeNumber('--inject', text)
  if (probability > 1) throw invalidOptionValue('--inject', text, 'give a number from 0 to 1')
  const [first = INJECTED_ERRORS[0], ...others] = (injectErrors ?? INJECTED_ERRORS).map((word) =>
    readChoice('--inject-errors', word, INJECTED_ERRORS),
  )
  return {
    probability,
    errors: [first, ...others],
    ...(injectSeed !== undefined && { seed: readNonNegativeNumber('--inject-seed', injectSeed) }),
  }
}

const INJECTED_ERRORS = ['timeout', 'network-error', 'invalid-response'] as const

function readJudging(flags: ReplayFlags): JudgeOptions {
  const { validate, strict, officialSchema, ignore = [], ignoreField = [], unordered = [] } = flags
  const { tolerance, slower } = flags
  for (const path of [...ignore, ...unordered]) parsePath(path)
  return {
    ignore,
    ignoreFields: ignoreField,
    unordered,
    ...(validate !== undefined && { validate }),
    ...(strict !== undefined && { strict }),
    ...(officialSchema !== undefined && {
      officialSchema: readChoice('--official-schema', officialSchema, ['changed', 'always', 'off']),
    }),
    ...(tolerance !== undefined && {
      numeric: readNonNegativeNumber('--tolerance', tolerance.replace(/%$/, '')) / 100,
    }),
    ...(slower !== undefined && { slower: readNonNegativeNumber('--slower', slower) }),
  }
}

function readErrorHandling({ timeout, onError, retries, retryDelay }: ReplayFlags): ReplaySettings {
  return {
    ...(timeout !== undefined && { timeout: readNonNegativeNumber('--timeout', timeout) }),
    ...(onError !== undefined && {
      onError: readChoice('--on-error', onError, ['continue', 'pause', 'stop', 'retry']),
    }),
    ...(retries !== undefined && { maxRetries: readNonNegativeNumber('--retries', retries) }),
    ...(retryDelay !== undefined && { retryDelay: readNonNegativeNumber('--retry-delay', retryDelay) }),
  }
}

/** A whole number that counts something. */
export function readPositiveInteger(option: string, text: string): number {
  const value = readNonNegativeNumber(option, text)
  if (Number.isInteger(value) && value > 0) return value
  throw invalidOptionValue(option, text, 'give a whole number from 1 on')
}

export function readChoice<Word extends string>(
  option: string,
  text: string | undefined,
  words: readonly [Word, ...Word[]],
): Word {
  const found = words.find((word) => word === (text ?? words[0]))
  if (found !== undefined) return found
  throw invalidOptionValue(option, text ?? '', `choose one of ${words.join(', ')}`)
}

function readOrderOption({ order = 'correlated', seed = '1', priority = [] }: ReplayFlags): Ordering {
  const kind = readChoice('--order', order, ['correlated', 'sequential', 'priority', 'random'])
  if (kind === 'random') return { kind, seed: readNonNegativeNumber('--seed', seed) }
  if (kind !== 'priority') return { kind }
  const ranks = priority.map((text) => {
    const [method = '', rank = ''] = text.split('=')
    return [method, readNonNegativeNumber('--priority', rank)] as const
  })
  return { kind, of: Object.fromEntries(ranks) }
}

function readReplayPace(text: string): Timing {
  const timing = parseSpeed(text)
  if (timing !== undefined) return timing
  throw invalidOptionValue('--pace', text, SPEED_HINT)
}

function readNonNegativeNumber(option: string, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(value) && value >= 0) return value
  throw invalidOptionValue(option, text, 'give a number that is not negative')
}

function invalidOptionValue(option: string, text: string, hint: string): ReelayError {
  return new ReelayError('USAGE', `${option} cannot be ${JSON.stringify(text)}`, { hint })
}

/** Refuses options that would have no effect without another one: whoever gives them expects one. */
function rejectFlagsWithoutEffect(flags: ReplayFlags): void {
  for (const { option, name, needs, isThere } of FLAG_DEPENDENCIES)
    if (flags[name] !== undefined && !isThere(flags))
      throw new ReelayError('USAGE', `${option} has no effect without ${needs}`, {
        hint: `give ${needs} too, or leave ${option} out`,
      })
}

interface FlagDependency {
  readonly option: string
  readonly name: keyof ReplayFlags
  readonly needs: string
  readonly isThere: (flags: ReplayFlags) => boolean
}

const FLAG_DEPENDENCIES: readonly FlagDependency[] = [
  { option: '--header', name: 'header', needs: '--url', isThere: ({ url }) => url !== undefined },
  { option: '--sse', name: 'sse', needs: '--url', isThere: ({ url }) => url !== undefined },
  {
    option: '--priority',
    name: 'priority',
    needs: '--order priority',
    isThere: ({ order }) => order === 'priority',
  },
  { option: '--seed', name: 'seed', needs: '--order random', isThere: ({ order }) => order === 'random' },
  {
    option: '--inject-errors',
    name: 'injectErrors',
    needs: '--inject',
    isThere: ({ inject }) => inject !== undefined,
  },
  {
    option: '--inject-seed',
    name: 'injectSeed',
    needs: '--inject',
    isThere: ({ inject }) => inject !== undefined,
  },
]

import { ReelayError } from '../../errors.ts'
import type { ErrorInjection } from '../../replay/injection.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import type { Timing } from '../../replay/pace.ts'
import type { Ordering } from '../../replay/schedule.ts'
import type { Selection } from '../../replay/select.ts'
import type { ReplaySettings } from '../../replay/settings/section.ts'
import { parseSpeed, SPEED_HINT } from '../../replay/settings/speed.ts'
import { settingRule } from '../../replay/transform/setting.ts'
import type { Judging } from '../../replay/verdict/judge.ts'
import { parsePath } from '../../wire/path.ts'
import type { ReplayFlags } from './flags.ts'
import { refuseIdleFlags } from './idle-flags.ts'

/** What the command line says of a run; what it does not say is left to the config and the engine. */
export function readFlags(flags: ReplayFlags): Omit<ReplayOptions, 'target'> {
  refuseIdleFlags(flags)
  return {
    ...readSelection(flags),
    ...readSending(flags),
    ...readJudging(flags),
    ...readErrors(flags),
    allow: flags.allow ?? [],
    allowWrites: flags.allowWrites === true,
    ...(flags.server !== undefined && { server: flags.server }),
  }
}

function readSelection(flags: ReplayFlags): Partial<Selection> {
  const { handshake, include, exclude, from, to } = flags
  return {
    ...(handshake !== undefined && {
      handshake: choice('--handshake', handshake, ['own', 'recorded', 'none']),
    }),
    ...(include && { include }),
    ...(exclude && { exclude }),
    ...(from !== undefined && { from: number('--from', from) }),
    ...(to !== undefined && { to: number('--to', to) }),
    skipNotifications: flags.skipNotifications === true,
    skipErrors: flags.skipErrors === true,
  }
}

function readSending(flags: ReplayFlags): ReplaySettings {
  const { order, pace, maxConcurrent, updateTimestamps, inject } = flags
  return {
    rules: (flags.set ?? []).map((text) => settingRule(text, process.env)),
    ...(order !== undefined && { ordering: readOrdering(flags) }),
    ...(pace !== undefined && { timing: readPace(pace) }),
    ...(maxConcurrent !== undefined && { maxConcurrent: atLeastOne('--max-concurrent', maxConcurrent) }),
    ...(flags.correlate ? {} : { correlate: false as const }),
    ...(flags.keepIds && { transformIds: false }),
    ...(updateTimestamps !== undefined && { updateTimestamps }),
    ...(inject !== undefined && { injection: readInjection(inject, flags) }),
  }
}

function readInjection(text: string, { injectErrors, injectSeed }: ReplayFlags): ErrorInjection {
  const probability = number('--inject', text)
  if (probability > 1) throw wrong('--inject', text, 'give a number from 0 to 1')
  const [first = INJECTED[0], ...others] = (injectErrors ?? INJECTED).map((word) =>
    choice('--inject-errors', word, INJECTED),
  )
  return {
    probability,
    errors: [first, ...others],
    ...(injectSeed !== undefined && { seed: number('--inject-seed', injectSeed) }),
  }
}

const INJECTED = ['timeout', 'network-error', 'invalid-response'] as const

function readJudging(flags: ReplayFlags): Judging {
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
      officialSchema: choice('--official-schema', officialSchema, ['changed', 'always', 'off']),
    }),
    ...(tolerance !== undefined && {
      numeric: number('--tolerance', tolerance.replace(/%$/, '')) / 100,
    }),
    ...(slower !== undefined && { slower: number('--slower', slower) }),
  }
}

function readErrors({ timeout, onError, retries, retryDelay }: ReplayFlags): ReplaySettings {
  return {
    ...(timeout !== undefined && { timeout: number('--timeout', timeout) }),
    ...(onError !== undefined && {
      onError: choice('--on-error', onError, ['continue', 'pause', 'stop', 'retry']),
    }),
    ...(retries !== undefined && { maxRetries: number('--retries', retries) }),
    ...(retryDelay !== undefined && { retryDelay: number('--retry-delay', retryDelay) }),
  }
}

/** A whole number that counts something. */
export function atLeastOne(option: string, text: string): number {
  const value = number(option, text)
  if (Number.isInteger(value) && value > 0) return value
  throw wrong(option, text, 'give a whole number from 1 on')
}

export function choice<Word extends string>(
  option: string,
  text: string | undefined,
  words: readonly [Word, ...Word[]],
): Word {
  const found = words.find((word) => word === (text ?? words[0]))
  if (found !== undefined) return found
  throw wrong(option, text ?? '', `choose one of ${words.join(', ')}`)
}

function readOrdering({ order = 'correlated', seed = '1', priority = [] }: ReplayFlags): Ordering {
  const kind = choice('--order', order, ['correlated', 'sequential', 'priority', 'random'])
  if (kind === 'random') return { kind, seed: number('--seed', seed) }
  if (kind !== 'priority') return { kind }
  const ranks = priority.map((text) => {
    const [method = '', rank = ''] = text.split('=')
    return [method, number('--priority', rank)] as const
  })
  return { kind, of: Object.fromEntries(ranks) }
}

function readPace(text: string): Timing {
  const timing = parseSpeed(text)
  if (timing !== undefined) return timing
  throw wrong('--pace', text, SPEED_HINT)
}

function number(option: string, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(value) && value >= 0) return value
  throw wrong(option, text, 'give a number that is not negative')
}

function wrong(option: string, text: string, hint: string): ReelayError {
  return new ReelayError('USAGE', `${option} cannot be ${JSON.stringify(text)}`, { hint })
}

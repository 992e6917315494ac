import { ReelayError } from '../../errors.ts'
import type { Timing } from '../../replay/pace.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import type { Ordering } from '../../replay/schedule.ts'
import { settingRule } from '../../replay/transform/setting.ts'
import { parsePath } from '../../wire/path.ts'
import type { ReplayFlags } from './flags.ts'

/** The options of a run, as the user gave them. */
export function readFlags(flags: ReplayFlags): Omit<ReplayOptions, 'target'> {
  const { include, exclude, server, ignore = [], unordered = [], allow = [] } = flags
  for (const path of [...ignore, ...unordered]) parsePath(path)
  return {
    handshake: choice('--handshake', flags.handshake, ['own', 'recorded', 'none']),
    ordering: readOrdering(flags),
    timing: readPace(flags.pace ?? 'fast'),
    timeout: number('--timeout', flags.timeout ?? '10000'),
    rules: (flags.set ?? []).map((text) => settingRule(text, process.env)),
    ignore,
    unordered,
    allow,
    allowWrites: flags.allowWrites === true,
    validate: flags.validate,
    skipNotifications: flags.skipNotifications === true,
    skipErrors: flags.skipErrors === true,
    onError: choice('--on-error', flags.onError, ['continue', 'pause', 'stop', 'retry']),
    maxRetries: number('--retries', flags.retries ?? '3'),
    retryDelay: number('--retry-delay', flags.retryDelay ?? '500'),
    ...(flags.correlate ? {} : { correlate: false as const }),
    ...(include && { include }),
    ...(exclude && { exclude }),
    ...(server !== undefined && { server }),
    ...(flags.from !== undefined && { from: number('--from', flags.from) }),
    ...(flags.to !== undefined && { to: number('--to', flags.to) }),
    ...(flags.maxConcurrent !== undefined && {
      maxConcurrent: atLeastOne('--max-concurrent', flags.maxConcurrent),
    }),
    ...(flags.tolerance !== undefined && {
      numeric: number('--tolerance', flags.tolerance.replace(/%$/, '')) / 100,
    }),
    ...(flags.slower !== undefined && { slower: number('--slower', flags.slower) }),
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
  const [, factor] = /^x?(\d+(?:\.\d+)?)$/.exec(text) ?? []
  const [, delay] = /^(\d+(?:\.\d+)?)ms$/.exec(text) ?? []
  const [, rps] = /^(\d+(?:\.\d+)?)rps$/.exec(text) ?? []
  if (text === 'fast' || text === 'original') return { kind: text }
  if (factor !== undefined && Number(factor) > 0) return { kind: 'scaled', factor: Number(factor) }
  if (delay !== undefined) return { kind: 'fixed', delay: Number(delay) }
  if (rps !== undefined && Number(rps) > 0) return { kind: 'adaptive', rps: Number(rps) }
  throw wrong('--pace', text, 'write fast, original, x2 (twice as fast), 100ms (between messages) or 50rps')
}

function number(option: string, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(value) && value >= 0) return value
  throw wrong(option, text, 'give a number that is not negative')
}

function wrong(option: string, text: string, hint: string): ReelayError {
  return new ReelayError('USAGE', `${option} cannot be ${JSON.stringify(text)}`, { hint })
}

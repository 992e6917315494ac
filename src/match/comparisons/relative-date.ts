import { invalidMatchRule, type Comparison, type ComparisonKind, type RequestTimes } from './comparison.ts'

const SECOND = 1_000
const MINUTE: number = 60 * SECOND
const HOUR: number = 60 * MINUTE
export const DAY: number = 24 * HOUR

/** A date or a point in time, in one of the forms that clients send. */
type Timestamp =
  | { readonly kind: 'date'; readonly at: number }
  | { readonly kind: 'time'; readonly at: number }
  | { readonly kind: 'seconds'; readonly at: number }
  | { readonly kind: 'milliseconds'; readonly at: number }

/** Parses `2026-11-16`, ISO 8601 with a time, and seconds or milliseconds since 1970 for the years 2001 to 2286. */
export function parseTimestamp(value: unknown): Timestamp | undefined {
  if (typeof value === 'number') return timestampOfNumber(value)
  if (typeof value !== 'string' || !ISO.test(value)) return undefined
  const at = Date.parse(value.replace(' ', 'T'))
  if (Number.isNaN(at)) return undefined
  return { kind: value.length === DATE_LENGTH ? 'date' : 'time', at }
}

const DATE_LENGTH = '2026-11-16'.length
const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/

function timestampOfNumber(value: number): Timestamp | undefined {
  if (value >= 1e9 && value < 1e10) return { kind: 'seconds', at: value * SECOND }
  return value >= 1e12 && value < 1e13 ? { kind: 'milliseconds', at: value } : undefined
}

/** Milliseconds from `now` to a timestamp. For a date without a time, whole days in UTC. */
export function offsetFromNow(now: number, { kind, at }: Timestamp): number {
  return kind === 'date' ? at - Math.floor(now / DAY) * DAY : at - now
}

export const relativeDateKind: ComparisonKind = {
  name: 'relative-date',
  usage: 'relative-date [within <n>d|h|m|s]',
  about:
    'a date or time that is as far from now as the recorded one was from its request, within one day or this limit',
  parse: parseRelativeDate,
}

const WITHIN = /^within (?<amount>\d+)(?<unit>[dhms])$/
const UNITS: Readonly<Record<string, number>> = { d: DAY, h: HOUR, m: MINUTE, s: SECOND }

function parseRelativeDate(rest: string): Comparison {
  if (rest === '') return relativeDate('relative-date', DAY)
  const { amount, unit } = WITHIN.exec(rest)?.groups ?? {}
  if (amount === undefined || unit === undefined)
    throw invalidMatchRule(
      `invalid argument ${JSON.stringify(rest)} for "relative-date"`,
      'write relative-date, or relative-date within 2d (or h, m, s)',
    )
  return relativeDate(`relative-date ${rest}`, Number(amount) * (UNITS[unit] ?? 0))
}

function relativeDate(text: string, farthest: number): Comparison {
  return {
    text,
    distance: (recorded, got, times) => {
      const shift = shiftBetween(recorded, got, times)
      if (shift === undefined || !(shift <= farthest)) return undefined // `shift` is NaN if the time of the recording is unknown
      return farthest === 0 ? 0 : shift / farthest
    },
  }
}

/** The difference between the two offsets from now. Returns `undefined` if the values are not timestamps of the same form. */
function shiftBetween(recorded: unknown, got: unknown, times: RequestTimes): number | undefined {
  const [then, now] = [parseTimestamp(recorded), parseTimestamp(got)]
  if (then === undefined || then.kind !== now?.kind) return undefined
  return Math.abs(offsetFromNow(times.recorded, then) - offsetFromNow(times.live, now))
}

import { invalidMatchRule, type Comparison, type ComparisonKind, type RequestTimes } from './comparison.ts'
import { DAY, HOUR, MINUTE, parseTimestamp, offsetFromNow, SECOND } from './relative-date.ts'

export const relativeDateKind: ComparisonKind = {
  name: 'relative-date',
  usage: 'relative-date [within <n>d|h|m|s]',
  about: 'a date or time as far from now as the recorded one was from its recording, within a day or as said',
  parse: parseRelativeDate,
}

const WITHIN = /^within (?<amount>\d+)(?<unit>[dhms])$/
const UNITS: Readonly<Record<string, number>> = { d: DAY, h: HOUR, m: MINUTE, s: SECOND }

function parseRelativeDate(rest: string): Comparison {
  if (rest === '') return relativeDate('relative-date', DAY)
  const { amount, unit } = WITHIN.exec(rest)?.groups ?? {}
  if (amount === undefined || unit === undefined)
    throw invalidMatchRule(
      `"relative-date" got ${JSON.stringify(rest)}`,
      'write relative-date, or how exact it must be: relative-date within 2d (or h, m, s)',
    )
  return relativeDate(`relative-date ${rest}`, Number(amount) * (UNITS[unit] ?? 0))
}

function relativeDate(text: string, farthest: number): Comparison {
  return {
    text,
    distance: (recorded, got, times) => {
      const shift = shiftBetween(recorded, got, times)
      if (shift === undefined || !(shift <= farthest)) return undefined // NaN when nobody knows when it was recorded
      return farthest === 0 ? 0 : shift / farthest
    },
  }
}

/** By how much the two lie differently from their own now; undefined when they are not two dates of one form. */
function shiftBetween(recorded: unknown, got: unknown, times: RequestTimes): number | undefined {
  const [then, now] = [parseTimestamp(recorded), parseTimestamp(got)]
  if (then === undefined || then.kind !== now?.kind) return undefined
  return Math.abs(offsetFromNow(times.recorded, then) - offsetFromNow(times.live, now))
}

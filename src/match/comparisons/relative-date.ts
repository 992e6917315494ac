export const SECOND = 1_000
export const MINUTE: number = 60 * SECOND
export const HOUR: number = 60 * MINUTE
export const DAY: number = 24 * HOUR

/** A date without a time, or a point in time, as clients write them in requests. */
export type Timestamp =
  | { readonly kind: 'date'; readonly at: number }
  | { readonly kind: 'time'; readonly at: number }
  | { readonly kind: 'seconds'; readonly at: number }
  | { readonly kind: 'milliseconds'; readonly at: number }

/** Reads `2026-11-16`, ISO 8601 with a time, and the seconds or milliseconds since 1970 of the years 2001 to 2286. */
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

/** How far a moment lies from `now`: whole days, by the calendar of UTC, for a date without a time. */
export function offsetFromNow(now: number, { kind, at }: Timestamp): number {
  return kind === 'date' ? at - Math.floor(now / DAY) * DAY : at - now
}

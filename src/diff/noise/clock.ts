import { isChangedScalar } from '../difference.ts'
import { noiseByDifference, type NoiseKind, type SessionTimes, type TimeSpan } from './noise-kind.ts'

/** Texts and numbers that contain the current time. */
export const clockTimes: NoiseKind = noiseByDifference(
  'clock',
  (difference, { clock }) =>
    clock !== undefined &&
    isChangedScalar(difference) &&
    differOnlyInTime(difference.expected, difference.actual, clock),
)

const NOW = '\u0000now\u0000'
// ISO 8601, the format of JavaScript's Date, the format of HTTP headers, seconds or milliseconds since 1970, and a time of day.
const TIMES =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT|(?<!\d)1\d{9}(?:\d{3})?(?!\d)|(?<![\d:.])\d{1,2}:\d\d:\d\d(?:[\s\u202f]?[AP]M)?(?![\d:])/g

/** Returns true if two texts or numbers differ only in times that lie within their sessions. */
export function differOnlyInTime(
  expected: string | number,
  actual: string | number,
  clock: SessionTimes,
): boolean {
  const then = withoutTimes(String(expected), clock.recorded)
  return then.includes(NOW) && then === withoutTimes(String(actual), clock.live())
}

function withoutTimes(text: string, span: TimeSpan): string {
  return text.replaceAll(TIMES, (found) => (timesOf(found, span).some(isIn(span)) ? NOW : found))
}

function isIn({ from, to }: TimeSpan): (time: number) => boolean {
  return (time) => time >= from - SLACK && time <= to + SLACK
}

// Values that a session works on are often created shortly before it, and the clocks of two machines differ a little.
const SLACK = 120_000

/** A time of day without a date is tried on the first and the last day of the span, in local time and in UTC. */
function timesOf(text: string, { from, to }: TimeSpan): readonly number[] {
  const [, hour, rest = '', half] = /^(\d{1,2})(:\d\d:\d\d)(?:[\s\u202f]?([AP]M))?$/.exec(text) ?? []
  if (hour === undefined) return [timeOf(text)]
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'PM' ? 12 : 0)
  const onDay = `T${String(hours).padStart(2, '0')}${rest}`
  return [from, to].flatMap((at) => {
    const day = new Date(at)
    const here = new Date(at - day.getTimezoneOffset() * 60_000)
    return [Date.parse(`${dayOf(day)}${onDay}Z`), Date.parse(`${dayOf(here)}${onDay}`)]
  })
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

function timeOf(text: string): number {
  if (/^\d+$/.test(text)) return text.length === 10 ? Number(text) * 1000 : Number(text)
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d|GMT.*)$/.test(text) ? text : `${text}Z`)
}

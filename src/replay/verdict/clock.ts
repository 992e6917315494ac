/** From when to when, in milliseconds since 1970. */
interface Span {
  readonly from: number
  readonly to: number
}

export interface ClockOptions {
  readonly recorded: Span
  readonly live: () => Span
}

const NOW = '\u0000now\u0000'
// ISO 8601, JavaScript's own form, HTTP's form, and seconds or milliseconds since 1970.
const TIMES =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT|(?<!\d)1\d{9}(?:\d{3})?(?!\d)/g

/** Whether two texts, or numbers, differ in nothing but the time at which they were said. */
export function differByClock(
  expected: string | number,
  actual: string | number,
  clock: ClockOptions,
): boolean {
  const then = withoutTimes(String(expected), clock.recorded)
  return then.includes(NOW) && then === withoutTimes(String(actual), clock.live())
}

function withoutTimes(text: string, { from, to }: Span): string {
  return text.replaceAll(TIMES, (found) => {
    const time = timeOf(found)
    return time >= from - SLACK && time <= to + SLACK ? NOW : found
  })
}

// What a session works on was often made a moment before it; clocks of two machines differ a little.
const SLACK = 120_000

function timeOf(text: string): number {
  if (/^\d+$/.test(text)) return text.length === 10 ? Number(text) * 1000 : Number(text)
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d|GMT.*)$/.test(text) ? text : `${text}Z`)
}

import type { TimeSpan } from '../noise-kind.ts'
import type { ClassContext, ClassKind, ClassReader, ValueClass } from './value-class.ts'

/** Times of the same form. The live time is near the live session or near the samples. */
export const time: ClassKind = {
  name: 'time',
  infer: (values) => {
    const times = values.map(readTime)
    const [first] = times
    if (first === undefined || times.some((one) => one?.form !== first.form)) return undefined
    const known = times.flatMap((one) => (one === undefined || Number.isNaN(one.at) ? [] : [one.at]))
    const samples = known.length === 0 ? undefined : { from: Math.min(...known), to: Math.max(...known) }
    return timeClass(first.form, samples)
  },
  read: (written) =>
    timeClass(
      written.text('form'),
      written.has('from') ? { from: readMoment(written, 'from'), to: readMoment(written, 'to') } : undefined,
    ),
}

/** The span of the samples is `undefined` for times of day, which do not name a moment. */
function timeClass(form: string, samples: TimeSpan | undefined): ValueClass {
  const moments = samples && {
    from: new Date(samples.from).toISOString(),
    to: new Date(samples.to).toISOString(),
  }
  return {
    text: `time (${form})`,
    written: { is: 'time', form, ...moments },
    accepts: (value, context) => {
      const read = readTime(value)
      if (read === undefined || read.form !== form) return false
      if (Number.isNaN(read.at)) return true
      return context.isRecorded ? fitsRecording(read.at, samples, context) : isNear(read.at, samples, context)
    },
  }
}

function readMoment(written: ClassReader, name: string): number {
  const moment = Date.parse(written.text(name))
  if (Number.isNaN(moment)) throw written.invalid(name, 'is not a point in time')
  return moment
}

interface ReadTime {
  /** The text with a `0` for every digit. */
  readonly form: string
  /** In milliseconds since 1970; `NaN` for a time of day. */
  readonly at: number
}

const TIME =
  /^(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?|[A-Z][a-z]{2},? (?:\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} \d{1,2}) \d{4}(?: \d\d:\d\d:\d\d(?: GMT.*)?)?|\d{1,2}\/\d{1,2}\/\d{4})$/

/** Returns `undefined` if the value is not a time. */
export function readTime(value: unknown): ReadTime | undefined {
  if (typeof value === 'number') return readEpoch(value)
  if (typeof value !== 'string') return undefined
  if (/^1\d{9}(?:\d{3})?$/.test(value)) return readEpoch(Number(value))
  if (value.length > 80 || !TIME.test(value)) return undefined
  // The digits of a fraction vary, because some servers drop zeros at its end.
  const form = value
    .replace(/[.,]\d{1,9}(?=Z|[+-]|$)/, '')
    .replaceAll(/\d/g, '0')
    .replaceAll(/[A-Z][a-z]{2}\b/g, 'Xxx')
  return { form, at: Date.parse(value.replace(',', value.includes('T') ? '.' : ',')) }
}

function readEpoch(value: number): ReadTime | undefined {
  if (!Number.isInteger(value)) return undefined
  if (value >= 1e9 && value < 4e9) return { form: 'seconds since 1970', at: value * 1000 }
  return value >= 1e12 && value < 4e12 ? { form: 'milliseconds since 1970', at: value } : undefined
}

/** If the samples have a distance to the live clock, the recorded time has about the same distance to the clock of the recording. */
function fitsRecording(
  at: number,
  samples: TimeSpan | undefined,
  { clock, hasLiveSamples }: ClassContext,
): boolean {
  if (samples === undefined || clock === undefined || hasLiveSamples !== true) return true
  if (at >= samples.from && at <= samples.to) return true
  const { recorded } = clock
  const live = clock.live()
  const slack = 10 * MINUTE + 10 * (samples.to - samples.from)
  return (
    at >= recorded.from + (samples.from - live.to) - slack &&
    at <= recorded.to + (samples.to - live.from) + slack
  )
}

const MINUTE = 60_000
const YEAR = 366 * 24 * 60 * MINUTE

/** If the clock of the session is not known, samples may be old, so only times that are years away are rejected. */
function isNear(at: number, samples: TimeSpan | undefined, { clock }: ClassContext): boolean {
  if (samples !== undefined) {
    const slack = (clock === undefined ? 3 * YEAR : 10 * MINUTE) + 10 * (samples.to - samples.from)
    if (at >= samples.from - slack && at <= samples.to + slack) return true
  }
  const live = clock?.live()
  return live !== undefined && at >= live.from - 2 * MINUTE && at <= live.to + 2 * MINUTE
}

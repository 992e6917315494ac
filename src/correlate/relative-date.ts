import type { BindingProducer } from '../bindings/binding.ts'

const DAY = 86_400_000

/** Offsets that people and programs mean when they say a day: today, tomorrow, in a week, a month ago. */
const USUAL_DAYS: ReadonlySet<number> = new Set([-90, -30, -14, -7, -1, 0, 1, 2, 3, 7, 14, 30, 60, 90])

const MINUTE = 60_000

/** How a date hangs together with the moment at which it was sent; undefined when it was just a date. */
export function findClockProducer(value: string, sentAt: number): BindingProducer | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return relativeDay(value, sentAt)
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d.*Z$/.test(value) ? relativeMoment(value, sentAt) : undefined
}

/** The date or point in time for another moment, in the spelling of the recorded one. */
export function dateFromClock(recorded: string, { unit, offset }: ClockProducer, now: number): string {
  if (unit === 'day') return new Date(startOfDay(now) + offset * DAY).toISOString().slice(0, 10)
  const iso = new Date(now + offset).toISOString()
  return /\.\d+Z$/.test(recorded) ? iso : `${iso.slice(0, 19)}Z`
}

export type ClockProducer = Extract<BindingProducer, { kind: 'clock' }>

function relativeDay(value: string, sentAt: number): BindingProducer | undefined {
  const offset = Math.round((Date.parse(value) - startOfDay(sentAt)) / DAY)
  return USUAL_DAYS.has(offset) ? { kind: 'clock', unit: 'day', offset } : undefined
}

// A point in time that lies whole hours from now, to the minute, was computed from now.
function relativeMoment(value: string, sentAt: number): BindingProducer | undefined {
  const offset = Date.parse(value) - sentAt
  if (!USUAL_DAYS.has(Math.round(offset / DAY))) return undefined
  const past = Math.abs(offset - Math.round(offset / (60 * MINUTE)) * 60 * MINUTE)
  return past <= MINUTE && !/T\d\d:00(:00)?/.test(value) ? { kind: 'clock', unit: 'ms', offset } : undefined
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY) * DAY
}

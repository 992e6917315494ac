import {
  LENGTHS,
  type AgeReading,
  type CountReading,
  type CycleReading,
  type DayReading,
  type MomentReading,
  type PartReading,
  type TimeEvidence,
  type TimeOfDayReading,
  type TimeReading,
} from './time-reading.ts'
import type { TimeSpan } from '../noise-kind.ts'

/** The distance of a time zone from UTC at a time, in milliseconds. */
export type ZoneOffset = (at: number) => number

export interface ClockPair {
  readonly recorded: TimeSpan
  readonly live: TimeSpan
  /** The zones that a time without a zone may be in. */
  readonly zones: readonly ZonePair[]
}

/** The zones of a time in both sessions: the same one, or the local zone of each. */
export interface ZonePair {
  readonly recorded: ZoneOffset
  readonly live: ZoneOffset
}

/** Returns true if two times, written in the same way, have the same relation to the clocks of their sessions. */
export function haveSameRelation(then: TimeReading, now: TimeReading, clocks: ClockPair): boolean {
  if (!isSameForm(then.form, now.form)) return false
  if (then.kind === 'moment' && now.kind === 'moment') return areSameMoments(then, now, clocks)
  if (then.kind === 'day' && now.kind === 'day') return areSameDays(then, now, clocks)
  if (then.kind === 'time-of-day' && now.kind === 'time-of-day') return areSameTimesOfDay(then, now, clocks)
  if (then.kind === 'age' && now.kind === 'age') return areSameAges(then, now, clocks)
  if (then.kind === 'count' && now.kind === 'count') return areSameCounts(then, now, clocks)
  if (then.kind === 'part' && now.kind === 'part') return areSameParts(then, now, clocks)
  if (isCycle(then) && isCycle(now)) return areSameInCycle(then, now, clocks)
  return false
}

// In a form, a dot marks a name that is shortened, and a question mark one that is equal to its short form.
function isSameForm(then: string, now: string): boolean {
  if (then === now) return true
  if (!then.includes('?') && !now.includes('?')) return false
  return then.replaceAll(/[?.]/g, '') === now.replaceAll(/[?.]/g, '')
}

function isCycle(reading: TimeReading): reading is CycleReading {
  return ['weekday', 'month', 'quarter', 'year'].includes(reading.kind)
}

// Values that a session works on are often created shortly before it, and the clocks of two machines differ a little.
const SLACK: number = 2 * LENGTHS.minute
/** A response is written a little before or after the clock was read. */
const JITTER = LENGTHS.second

function areSameMoments(then: MomentReading, now: MomentReading, clocks: ClockPair): boolean {
  return zonesOf(then, clocks).some((zone) => {
    const [recorded, live] = [momentIn(then, zone.recorded), momentIn(now, zone.live)]
    const isNow = isIn(live, now.precision, clocks.live)
    if (isNow && isInSomeZone(recorded, then, clocks.recorded)) return true
    if (then.onlyNow) return false
    // The same moment, in the local time of another zone.
    if (recorded === live && then.precision < LENGTHS.day) return true
    const precision = Math.max(then.precision, now.precision)
    if (hasElapsed(live - recorded, precision, elapsedBetween(clocks))) return true
    const { offset } = then
    const zones = offset === undefined ? clocks.zones : [sameZone(() => offset), ...clocks.zones]
    return zones.some((each) => areSameRounded({ recorded, live, precision }, clocks, each))
  })
}

/** The lengths that times are rounded to: the next full hour, the start of the current quarter of an hour. */
const ROUNDINGS: readonly number[] = [60, 30, 15, 10, 5, 1].map((minutes) => minutes * LENGTHS.minute)

/** Returns true if two rounded times are the same number of hours or minutes from the current one. If no boundary was crossed, only equal times are. */
function areSameRounded(
  { recorded, live, precision }: Readonly<Record<'recorded' | 'live' | 'precision', number>>,
  clocks: ClockPair,
  zone: ZonePair,
): boolean {
  const [then, now] = [recorded + zone.recorded(recorded), live + zone.live(live)]
  if ([then, now].every((time) => time % LENGTHS.day === 0))
    return areSameDaysIn(then / LENGTHS.day, now / LENGTHS.day, clocks, zone)
  const unit = ROUNDINGS.find((length) => [then, now].every((time) => time % length === 0))
  if (unit === undefined || unit < FEWEST_STEPS * precision) return false
  const distances = unitsOfSession(clocks.recorded, unit, zone.recorded).map(
    (current) => then / unit - current,
  )
  return unitsOfSession(clocks.live, unit, zone.live).some((current) =>
    distances.includes(now / unit - current),
  )
}

function unitsOfSession({ from, to }: TimeSpan, unit: number, zone: ZoneOffset): readonly number[] {
  const [first, last] = [from - JITTER, to + JITTER].map((at) => Math.floor((at + zone(at)) / unit))
  if (first === undefined || last === undefined) return []
  return Array.from({ length: Math.min(last - first, MOST_UNITS) + 1 }, (_, index) => first + index)
}

const MOST_UNITS = 60
/** With fewer, a time that is not rounded often looks as if it were. */
const FEWEST_STEPS = 15

function zonesOf(
  { offset }: { readonly offset: number | undefined },
  { zones }: ClockPair,
): readonly ZonePair[] {
  return offset === undefined ? zones : [sameZone(() => 0)]
}

function sameZone(zone: ZoneOffset): ZonePair {
  return { recorded: zone, live: zone }
}

function momentIn({ civil, offset }: MomentReading, zone: ZoneOffset): number {
  return offset === undefined ? civil - zone(civil - zone(civil)) : civil - offset
}

function isIn(from: number, length: number, span: TimeSpan): boolean {
  return from + length >= span.from - SLACK && from <= span.to + SLACK
}

/** The machine of the recording may have been in another zone, so that a time without a zone is shifted by up to 14 hours. */
function isInSomeZone(
  at: number,
  { precision, offset }: { readonly precision: number; readonly offset: number | undefined },
  span: TimeSpan,
): boolean {
  if (isIn(at, precision, span)) return true
  if (offset !== undefined || precision > LENGTHS.minute) return false
  const shift = Math.round((at - span.to) / ZONE_STEP) * ZONE_STEP
  return Math.abs(shift) <= 2 * MOST_ZONE_OFFSET && isIn(at - shift, precision, span)
}

const ZONE_STEP = 30 * LENGTHS.minute
const MOST_ZONE_OFFSET = 14 * LENGTHS.hour

interface Elapsed {
  readonly min: number
  readonly max: number
}

function elapsedBetween({ recorded, live }: ClockPair): Elapsed {
  return { min: live.from - recorded.to - JITTER, max: live.to - recorded.from + JITTER }
}

/**
 * Returns true if a value has grown by the elapsed time. A value with whole units grows by the units that have passed, or by one more.
 * One unit more, when almost no time has passed, is a change: that a boundary was crossed just then is very unlikely.
 */
function hasElapsed(growth: number, precision: number, { min, max }: Elapsed): boolean {
  const units = Math.round(growth / precision)
  const fewest = Math.floor(Math.max(0, min) / precision)
  if (units <= 0 || units < fewest || units > Math.ceil(max / precision)) return false
  return fewest > 0 || max / precision >= LIKELY_CROSSING
}

const LIKELY_CROSSING = 0.01

function areSameDays(then: DayReading, now: DayReading, clocks: ClockPair): boolean {
  if (clocks.zones.some((zone) => areSameDaysIn(then.day, now.day, clocks, zone))) return true
  // The day may be that of an unknown zone. This is accepted only if the day has changed in every zone.
  return haveDaysPassed(now.day - then.day, clocks)
}

function haveDaysPassed(days: number, clocks: ClockPair): boolean {
  if (elapsedBetween(clocks).min < LENGTHS.day) return false
  return UNKNOWN_ZONES.some((offset) => {
    const [recorded, live] = [clocks.recorded, clocks.live].map((span) => daysOf(span, () => offset, JITTER))
    return recorded?.some((then) => live?.some((today) => today - then === days)) === true
  })
}

/** Every quarter of an hour of a day. */
const UNKNOWN_ZONES: readonly number[] = Array.from({ length: 96 }, (_, at) => at * 15 * LENGTHS.minute)

function areSameDaysIn(then: number, now: number, { recorded, live }: ClockPair, zone: ZonePair): boolean {
  return daysOf(recorded, zone.recorded).some((recordedToday) =>
    daysOf(live, zone.live).some(
      (today) =>
        then - recordedToday === now - today ||
        isSameMonthStep([recordedToday, then], [today, now]) ||
        isSameStart([recordedToday, then], [today, now]),
    ),
  )
}

/** Returns true if both days are the start of the current or of the next month or week. */
function isSameStart(one: DayStep, other: DayStep): boolean {
  const steps = [one, other]
  const areStarts = (isStart: (day: number) => boolean, distance: (step: DayStep) => number): boolean => {
    const [first, second] = [distance(one), distance(other)]
    return steps.every(([, to]) => isStart(to)) && first === second && (first === 0 || first === 1)
  }
  return (
    areStarts((day) => dateOf(day).getUTCDate() === 1, monthsIn) ||
    WEEK_STARTS.some((start) =>
      areStarts(
        (day) => dateOf(day).getUTCDay() === start,
        ([from, to]) => weekOf(to, start) - weekOf(from, start),
      ),
    )
  )
}

/** Sunday and Monday. */
const WEEK_STARTS: readonly number[] = [0, 1]

function weekOf(day: number, start: number): number {
  return Math.floor((day + EPOCH_WEEKDAY - start) / 7)
}

/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4

function dateOf(day: number): Date {
  return new Date(day * LENGTHS.day)
}

/** The days of a session. Shortly before and after midnight, there are two. */
function daysOf(span: TimeSpan, zone: ZoneOffset, slack = SLACK): readonly number[] {
  const [first, last] = [dayAt(span.from - slack, zone), dayAt(span.to + slack, zone)]
  return Array.from({ length: Math.min(last - first, 31) + 1 }, (_, index) => first + index)
}

function dayAt(at: number, zone: ZoneOffset): number {
  return Math.floor((at + zone(at)) / LENGTHS.day)
}

type DayStep = readonly [from: number, to: number]

/** Returns true if both steps are the same number of months, as in the same day of the next month. */
function isSameMonthStep(one: DayStep, other: DayStep): boolean {
  const months = monthsIn(one)
  return months !== 0 && months === monthsIn(other) && isWholeMonths(one) && isWholeMonths(other)
}

function monthsIn([from, to]: DayStep): number {
  return monthIndex(to) - monthIndex(from)
}

function monthIndex(day: number): number {
  const date = dateOf(day)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

function isWholeMonths([from, to]: DayStep): boolean {
  const [start, end] = [dateOf(from), dateOf(to)]
  const isLastOfMonth = dateOf(to + 1).getUTCDate() === 1
  const isClamped = isLastOfMonth && start.getUTCDate() > end.getUTCDate()
  return start.getUTCDate() === end.getUTCDate() || isClamped
}

function areSameInCycle(then: CycleReading, now: CycleReading, clocks: ClockPair): boolean {
  const { kind, cycle } = then
  const isSameIn = (zone: ZonePair): boolean =>
    daysOf(clocks.recorded, zone.recorded).some((recordedToday) =>
      daysOf(clocks.live, zone.live).some((today) => {
        const distance = then.value - inCycle(kind, recordedToday)
        if (kind === 'year' && Math.abs(distance) > 1) return false
        return isMultiple(distance - (now.value - inCycle(kind, today)), cycle)
      }),
    )
  if (clocks.zones.some(isSameIn)) return true
  if (kind !== 'weekday') return false
  const { max } = elapsedBetween(clocks)
  const fewest = Math.floor(max / LENGTHS.day / cycle) * cycle + ((now.value - then.value + cycle) % cycle)
  return [fewest - cycle, fewest, fewest + cycle].some((days) => haveDaysPassed(days, clocks))
}

function isMultiple(value: number, cycle: number): boolean {
  return cycle === Infinity ? value === 0 : value % cycle === 0
}

function inCycle(kind: CycleReading['kind'], day: number): number {
  if (kind === 'weekday') return dateOf(day).getUTCDay()
  if (kind === 'month') return monthIndex(day)
  return Math.floor(monthIndex(day) / (kind === 'quarter' ? 3 : 12))
}

function areSameTimesOfDay(then: TimeOfDayReading, now: TimeOfDayReading, clocks: ClockPair): boolean {
  const elapsed = elapsedBetween(clocks)
  return zonesOf(then, clocks).some((zone) => {
    const recorded = nearestTime(then, clocks.recorded, zone.recorded)
    const live = nearestTime(now, clocks.live, zone.live)
    const isNow = isIn(live, now.precision, clocks.live)
    if (isNow && isInSomeZone(recorded, then, clocks.recorded)) return true
    const growth = live - recorded
    return [growth - LENGTHS.day, growth, growth + LENGTHS.day].some(
      (one) =>
        hasElapsed(one, then.precision, elapsed) &&
        (then.isCertain || Math.abs(now.time - then.time) >= FEW * then.precision),
    )
  })
}

/** The time of day on the day on which it is nearest to a session. */
function nearestTime({ time, offset }: TimeOfDayReading, { from, to }: TimeSpan, zone: ZoneOffset): number {
  const middle = (from + to) / 2
  const shift = offset ?? zone(middle)
  const today = Math.floor((middle + shift) / LENGTHS.day) * LENGTHS.day + time - shift
  return today + Math.round((middle - today) / LENGTHS.day) * LENGTHS.day
}

// A small change of a number or of a bare 12:34 may be anything. It needs evidence that it is a time.
const FEW = 10

/** The event is the same one, so that its age has grown by the elapsed time, or it is part of both sessions. */
function areSameAges(then: AgeReading, now: AgeReading, clocks: ClockPair): boolean {
  const { evidence, form } = then
  if (then.style !== undefined && now.style !== undefined && then.style !== now.style) return false
  const isPast = then.age >= 0 && now.age >= 0
  if (isPast && (form === 'relative' || evidence.isUptime) && isRecent(then.age, now.age, clocks)) return true
  const growth = now.age - then.age
  if (form === 'duration') return hasDurationGrown(growth, then, now, clocks)
  return hasAgeGrown(growth, then, now, clocks)
}

function isRecent(then: number, now: number, { recorded, live }: ClockPair): boolean {
  return then <= recorded.to - recorded.from + SLACK && now <= live.to - live.from + SLACK
}

function hasDurationGrown(growth: number, then: AgeReading, now: AgeReading, clocks: ClockPair): boolean {
  const { evidence, precision } = then
  if (evidence.isOther) return false
  // Whether so short a time follows the clock is found out by another run after a pause.
  if (precision <= LENGTHS.second && Math.abs(growth) < FEW * LENGTHS.second && !isTimed(evidence))
    return false
  return evidence.isCountdown
    ? hasAgeGrown(-growth, now, then, clocks)
    : hasAgeGrown(growth, then, now, clocks)
}

function hasAgeGrown(growth: number, then: AgeReading, now: AgeReading, clocks: ClockPair): boolean {
  const elapsed = elapsedBetween(clocks)
  const isWholeUnits = then.precision === now.precision && then.precision < LENGTHS.month
  if (isWholeUnits) {
    if (hasElapsed(growth, then.precision, elapsed)) return true
    return then.precision === LENGTHS.day && areDaysApart(growth / LENGTHS.day, clocks)
  }
  // 90 minutes may be written as an hour or as two, and a month has 28 to 31 days.
  const least = growth - ROUNDED * now.precision - then.precision
  const most = growth + now.precision + ROUNDED * then.precision
  const finest = Math.min(then.precision, now.precision)
  return (
    growth !== 0 && least <= elapsed.max && most >= elapsed.min && elapsed.max / finest >= LIKELY_CROSSING
  )
}

const ROUNDED = 0.6

function areDaysApart(days: number, { recorded, live, zones }: ClockPair): boolean {
  return zones.some((zone) =>
    daysOf(recorded, zone.recorded).some((then) =>
      daysOf(live, zone.live).some((now) => now - then === days && days > 0),
    ),
  )
}

/** Both are the part of the current time. Programs count months and weekdays from zero or from one. */
function areSameParts(then: PartReading, now: PartReading, { recorded, live, zones }: ClockPair): boolean {
  return zones.some((zone) => {
    const known = distancesFromNow(then, recorded, zone.recorded)
    return distancesFromNow(now, live, zone.live).some((distance) => known.includes(distance))
  })
}

function distancesFromNow({ unit, value }: PartReading, span: TimeSpan, zone: ZoneOffset): readonly number[] {
  return currentParts(unit, span, zone)
    .map((current) => value - current)
    .filter((distance) => distance === 0 || (distance === -1 && (unit === 'month' || unit === 'weekday')))
}

/** The values of a part during a session. */
function currentParts(unit: PartReading['unit'], span: TimeSpan, zone: ZoneOffset): readonly number[] {
  const length = unit === 'second' || unit === 'minute' || unit === 'hour' ? LENGTHS[unit] : LENGTHS.day
  return unitsOfSession(span, length, zone).map((count) => {
    const date = new Date(count * length)
    if (unit === 'month') return date.getUTCMonth() + 1
    if (unit === 'day') return date.getUTCDate()
    if (unit === 'weekday') return date.getUTCDay()
    return count % (unit === 'hour' ? 24 : 60)
  })
}

function areSameCounts(then: CountReading, now: CountReading, clocks: ClockPair): boolean {
  const { evidence } = then
  if (evidence.isOther) return false
  const growth = now.value - then.value
  const step = 10 ** -Math.max(then.decimals, now.decimals)
  return unitsOf(evidence).some((unit) => {
    if (evidence.isUptime && isRecent(then.value * unit, now.value * unit, clocks)) return true
    if (Math.abs(growth) < fewestOf(evidence) && !isEvident(evidence, unit)) return false
    const grown = evidence.isCountdown ? -growth : growth
    return hasElapsed(grown * unit, step * unit, elapsedBetween(clocks))
  })
}

/** A number that nothing calls a time, and that is tried in several units, often changes by as much as one of them. */
function fewestOf(evidence: TimeEvidence): number {
  return evidence.unit === undefined && !isTimed(evidence) ? FEW_UNNAMED : FEW
}

const FEW_UNNAMED = 100

/** A number without a unit is tried in all of them. */
function unitsOf({ unit }: TimeEvidence): readonly number[] {
  return unit === undefined ? [LENGTHS.second, LENGTHS.minute, LENGTHS.hour, LENGTHS.day] : [unit]
}

/** Whether a small number of seconds follows the clock is found out by another run after a pause, unless a word says so. */
function isEvident(evidence: TimeEvidence, tried: number): boolean {
  return evidence.isUptime || (evidence.unit !== undefined && (tried > LENGTHS.second || isTimed(evidence)))
}

function isTimed({ isAge, isCountdown }: TimeEvidence): boolean {
  return isAge || isCountdown
}

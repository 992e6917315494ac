import { ExactNumber } from '../../json/exact-number.ts'
import type { JsonPath } from '../../json/path.ts'
import type { Difference } from '../difference.ts'
import { ageTokens, countTokens } from './clock/ages.ts'
import { calendarTokens } from './clock/calendar.ts'
import { epochTokens } from './clock/epochs.ts'
import { haveSameRelation, type ClockPair, type ZoneOffset } from './clock/relation.ts'
import type { TimeToken } from './clock/time-reading.ts'
import { noiseByDifference, type NoiseKind, type SessionTimes, type TimeSpan } from './noise-kind.ts'

/**
 * Texts and numbers that follow the clock: the current time, a time at a fixed distance from it, and the age of something. Of other texts it
 * keeps how they would read with the times of the other session, because noise beside a time is learned from live texts.
 */
export const clockTimes: NoiseKind = {
  name: 'clock',
  separate(differences, context) {
    const { clock } = context
    const { kept, suppressed } = timesAlone.separate(differences, context)
    if (clock === undefined) return { kept, suppressed }
    return {
      kept: kept.map((one) => {
        const timed = one.kind === 'changed' ? withOtherTimes(one, clock) : undefined
        return timed === undefined ? one : { ...one, timed }
      }),
      suppressed,
    }
  },
}

const timesAlone: NoiseKind = noiseByDifference('clock', (difference, { clock }) => {
  if (clock === undefined) return false
  const { kind, expected, actual, path } = difference
  if (kind === 'order') return haveSameTimes(expected, actual, clock, path)
  return (kind === 'changed' || kind === 'renamed') && differOnlyInTime(expected, actual, clock, path)
})

/** Exchanges the times that have the same relation to the clocks of their sessions. Returns `undefined` if there are none, or if the texts have other lines. */
function withOtherTimes({ expected, actual, path }: Difference, clock: SessionTimes): Difference['timed'] {
  if (typeof expected !== 'string' || typeof actual !== 'string') return undefined
  if (Math.max(expected.length, actual.length) > LONGEST_TIMED) return undefined
  const [then, now] = [expected.split('\n'), actual.split('\n')]
  if (then.length !== now.length) return undefined
  const [recorded, live, key] = [clock.recorded, clock.live(), keyOf(path)]
  const lines = then.map((line, at) =>
    exchangeTimes(line, now[at] ?? '', key, { recorded, live, zones: zonesFor(line) }),
  )
  if (!lines.some(({ isExchanged }) => isExchanged)) return undefined
  return {
    expected: lines.map((one) => one.expected).join('\n'),
    actual: lines.map((one) => one.actual).join('\n'),
  }
}

const LONGEST_TIMED = 200_000

function exchangeTimes(
  then: string,
  now: string,
  key: string,
  clocks: ClockPair,
): { readonly expected: string; readonly actual: string; readonly isExchanged: boolean } {
  const same = { expected: then, actual: now, isExchanged: false }
  if (then === now) return same
  const recorded = timesIn(then, key, clocks.recorded)
  const live = timesIn(now, key, clocks.live)
  if (recorded.length === 0 || recorded.length !== live.length) return same
  const pairs = recorded.flatMap((one, at) => {
    const other = live[at]
    return other !== undefined && areSame(one, other, clocks) ? [{ one, other }] : []
  })
  const expected = pairs.toReversed().reduce((text, { one, other }) => {
    return text.slice(0, one.start) + now.slice(other.start, other.end) + text.slice(one.end)
  }, then)
  const actual = pairs.toReversed().reduce((text, { one, other }) => {
    return text.slice(0, other.start) + then.slice(one.start, one.end) + text.slice(other.end)
  }, now)
  return { expected, actual, isExchanged: pairs.length > 0 }
}

/** Lists of times seem to have another order if a live time is equal to the recorded time of another item by chance. */
function haveSameTimes(expected: unknown, actual: unknown, clock: SessionTimes, path: JsonPath): boolean {
  if (!Array.isArray(expected) || !Array.isArray(actual) || expected.length !== actual.length) return false
  if (risesIn(expected) !== risesIn(actual)) return false
  return expected.every(
    (item: unknown, at) => item === actual[at] || differOnlyInTime(item, actual[at], clock, path),
  )
}

/** Tells for each item whether it is followed by a greater one. */
function risesIn(items: readonly unknown[]): string {
  return items.map((item, at) => Number(String(item) < String(items[at + 1]))).join('')
}

/**
 * Returns true if two texts or numbers differ only in times, and each time has the same relation to the clock of its session.
 * The path tells what a plain number is: `uptime_s`, `age.days`.
 */
export function differOnlyInTime(
  expected: Difference['expected'],
  actual: Difference['actual'],
  clock: SessionTimes,
  path: JsonPath = [],
): boolean {
  const [then, now] = [spellingOf(expected), spellingOf(actual)]
  if (then === undefined || now === undefined || typeof expected !== typeof actual) return false
  const [recordedLines, liveLines] = [then.split('\n'), now.split('\n')]
  if (recordedLines.length !== liveLines.length || then === now) return false
  const key = keyOf(path)
  const [recorded, live] = [clock.recorded, clock.live()]
  return recordedLines.every((line, at) => {
    const liveLine = liveLines[at] ?? ''
    return line === liveLine || isSameLine(line, liveLine, key, { recorded, live, zones: zonesFor(line) })
  })
}

/** The last names of a path, which tell what a number is. */
function keyOf(path: JsonPath): string {
  return path
    .filter((step) => typeof step === 'string')
    .slice(-2)
    .join(' ')
}

function spellingOf(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return value.spelling
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

function isSameLine(then: string, now: string, key: string, clocks: ClockPair): boolean {
  const recorded = timesIn(then, key, clocks.recorded)
  const live = timesIn(now, key, clocks.live)
  if (recorded.length === 0 || recorded.length !== live.length) return false
  let [recordedEnd, liveEnd] = [0, 0]
  for (const [at, one] of recorded.entries()) {
    const other = live[at]
    if (other === undefined) return false
    if (then.slice(recordedEnd, one.start) !== now.slice(liveEnd, other.start)) return false
    if (then.slice(one.start, one.end) !== now.slice(other.start, other.end) && !areSame(one, other, clocks))
      return false
    recordedEnd = one.end
    liveEnd = other.end
  }
  return then.slice(recordedEnd) === now.slice(liveEnd)
}

function areSame(one: TimeToken, other: TimeToken, clocks: ClockPair): boolean {
  return one.readings.some((then) => other.readings.some((now) => haveSameRelation(then, now, clocks)))
}

/** The times in a line, from left to right. Where several begin, the longest counts, with all its meanings. */
function timesIn(line: string, key: string, { to }: TimeSpan): readonly TimeToken[] {
  const found = [
    ...calendarTokens(line, to),
    ...epochTokens(line),
    ...ageTokens(line, key),
    ...countTokens(line, key),
  ].toSorted((one, other) => one.start - other.start || other.end - one.end)
  const tokens: TimeToken[] = []
  for (const token of found) {
    const last = tokens.at(-1)
    if (last === undefined || token.start >= last.end) tokens.push(token)
    else if (token.start === last.start && token.end === last.end)
      tokens[tokens.length - 1] = { ...last, readings: [...last.readings, ...token.readings] }
  }
  return tokens
}

/** A time without a zone is in UTC, in local time, or in a zone that is named in the same line. */
function zonesFor(line: string): readonly ZoneOffset[] {
  const named = Array.from(line.matchAll(ZONE_NAME), ([name]) => namedZone(name))
  return [() => 0, localOffset, ...named.filter((zone) => zone !== undefined)]
}

const ZONE_NAME =
  /(?<!\w)(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)\/[A-Z]\w+(?:\/[A-Z]\w+)?/g

function localOffset(at: number): number {
  return -new Date(at).getTimezoneOffset() * 60_000
}

/** Returns `undefined` for a zone that does not exist. */
function namedZone(timeZone: string): ZoneOffset | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    return (at) => offsetIn(format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '')
  } catch {
    return undefined
  }
}

function offsetIn(name: string): number {
  const {
    sign,
    hours = '0',
    minutes = '0',
  } = /(?<sign>[+-])(?<hours>\d\d):(?<minutes>\d\d)/.exec(name)?.groups ?? {}
  const distance = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -distance : distance
}

import { ExactNumber } from '../../json/exact-number.ts'
import { isObject } from '../../json/parse.ts'
import type { JsonPath } from '../../json/path.ts'
import { longestCommonSubsequence } from '../align.ts'
import type { Difference } from '../difference.ts'
import { ageTokens, countTokens } from './clock/ages.ts'
import { calendarTokens, partTokens } from './clock/calendar.ts'
import { epochTokens } from './clock/epochs.ts'
import { haveSameRelation, type ClockPair, type ZoneOffset, type ZonePair } from './clock/relation.ts'
import type { TimeToken } from './clock/time-reading.ts'
import {
  noiseByDifference,
  type NoiseKind,
  type NoiseSeparation,
  type SessionTimes,
  type TimeSpan,
  type UtcOffsets,
} from './noise-kind.ts'

/**
 * Texts and numbers that follow the clock: the current time, a time at a fixed distance from it, and the age of something. Of other texts it
 * keeps how they would read with the times of the other session, because noise beside a time is learned from live texts.
 */
export const clockTimes: NoiseKind = {
  name: 'clock',
  separate(differences, context) {
    const { clock } = context
    const { kept, suppressed } = withoutShiftedLists(timesAlone.separate(differences, context))
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

/** In a list of times that moved on, items were compared that do not belong together. */
function withoutShiftedLists({ kept, suppressed }: NoiseSeparation): NoiseSeparation {
  const lists = suppressed.flatMap(({ difference: { kind, path } }) => (kind === 'order' ? [path] : []))
  if (lists.length === 0) return { kept, suppressed }
  const isInside = ({ path }: Difference): boolean =>
    lists.some((list) => list.length < path.length && list.every((segment, at) => segment === path[at]))
  return {
    kept: kept.filter((one) => !isInside(one)),
    suppressed: [
      ...suppressed,
      ...kept.filter(isInside).map((difference) => ({ difference, noise: clockTimes.name })),
    ],
  }
}

/** Exchanges the times that have the same relation to the clocks of their sessions. Returns `undefined` if there are none, or if the texts have other lines. */
function withOtherTimes({ expected, actual, path }: Difference, clock: SessionTimes): Difference['timed'] {
  if (typeof expected !== 'string' || typeof actual !== 'string') return undefined
  if (Math.max(expected.length, actual.length) > LONGEST_TIMED) return undefined
  const [then, now] = [expected.split('\n'), actual.split('\n')]
  if (then.length !== now.length) return undefined
  const [recorded, live, key] = [clock.recorded, clock.live(), keyOf(path)]
  const lines = then.map((line, at) =>
    exchangeTimes(line, now[at] ?? '', key, { recorded, live, zones: zonesFor(line, clock) }),
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
  const pairs = pairTimes(recorded, live).filter(({ one, other }) => areSame(one, other, clocks))
  const expected = pairs.toReversed().reduce((text, { one, other }) => {
    return text.slice(0, one.start) + now.slice(other.start, other.end) + text.slice(one.end)
  }, then)
  const actual = pairs.toReversed().reduce((text, { one, other }) => {
    return text.slice(0, other.start) + then.slice(one.start, one.end) + text.slice(other.end)
  }, now)
  return { expected, actual, isExchanged: pairs.length > 0 }
}

interface TimePair {
  readonly one: TimeToken
  readonly other: TimeToken
}

/** Pairs the times of two lines in order. A random id may contain what looks like a time, and has no counterpart. */
function pairTimes(recorded: readonly TimeToken[], live: readonly TimeToken[]): readonly TimePair[] {
  const places =
    recorded.length === live.length
      ? recorded.map((_, at) => ({ expected: at, actual: at }))
      : longestCommonSubsequence(recorded.map(formOf), live.map(formOf))
  return places.flatMap(({ expected, actual }) => {
    const [one, other] = [recorded[expected], live[actual]]
    return one === undefined || other === undefined ? [] : [{ one, other }]
  })
}

function formOf({ readings: [first] }: TimeToken): string {
  return `${first?.kind} ${first?.form}`
}

/** Lists of times seem to have another order if a live time is equal to the recorded time of another item by chance. */
function haveSameTimes(expected: unknown, actual: unknown, clock: SessionTimes, path: JsonPath): boolean {
  if (!Array.isArray(expected) || !Array.isArray(actual) || expected.length !== actual.length) return false
  if (risesIn(expected) !== risesIn(actual)) return false
  return expected.every((item: unknown, at) => areEqualButTimes(item, actual[at], clock, path))
}

/** Returns true if two values of any kind differ in nothing but times. */
function areEqualButTimes(one: unknown, other: unknown, clock: SessionTimes, path: JsonPath): boolean {
  if (one === other) return true
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item: unknown, at) => areEqualButTimes(item, other[at], clock, path))
    )
  if (one instanceof ExactNumber || !isObject(one)) return differOnlyInTime(one, other, clock, path)
  if (!isObject(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) && areEqualButTimes(one[name], other[name], clock, [...path, name]),
    )
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
    return (
      line === liveLine || isSameLine(line, liveLine, key, { recorded, live, zones: zonesFor(line, clock) })
    )
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
    ...partTokens(line, key),
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

/**
 * A time without a zone is in UTC, in the local time of its session, or in a zone that is named in the same line. Old tapes do not tell what
 * local time was.
 */
function zonesFor(line: string, { offsets = {} }: SessionTimes): readonly ZonePair[] {
  const named = Array.from(line.matchAll(ZONE_NAME), ([name]) => namedZone(name))
  const same = [
    utc,
    ...(offsets.recorded ? [] : [localOffset]),
    ...named.filter((zone) => zone !== undefined),
  ]
  // Without offsets, the tape is old, or local time was UTC.
  const recorded = offsets.recorded ? localZones(offsets.recorded) : [utc, localOffset]
  const live = localZones(offsets.live)
  return [
    ...same.map((zone) => ({ recorded: zone, live: zone })),
    ...recorded.flatMap((then) => live.map((now) => ({ recorded: then, live: now }))),
  ]
}

const utc: ZoneOffset = () => 0

function localZones(offsets: UtcOffsets | undefined): readonly ZoneOffset[] {
  return (
    offsets?.map(
      (minutes): ZoneOffset =>
        () =>
          minutes * 60_000,
    ) ?? [localOffset]
  )
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

import { expect, test } from 'vitest'
import { ExactNumber } from '../../json/exact-number.ts'
import { createDiffer } from '../diff.ts'
import { clockTimes, differOnlyInTime } from './clock.ts'

const DAY = 86_400_000
const RECORDED = Date.parse('2026-11-15T13:59:00Z')
const LIVE = Date.parse('2026-12-24T08:05:00Z')
const CLOCK = {
  recorded: { from: RECORDED, to: RECORDED + 10_000 },
  live: () => ({ from: LIVE, to: LIVE + 5000 }),
}

const wall = (at: number): string => new Date(at).toLocaleTimeString('en-US')

test.each([
  ['made at 2026-11-15T13:59:04Z', 'made at 2026-12-24T08:05:01Z'],
  ['made at 1:59:04 PM', 'made at 8:05:01 AM'],
  ['made at 13:59:04', 'made at 08:05:01'],
  ['made at 2026-11-15T13:59:04Z', 'made at 2026-12-24T08:05:01.250Z'],
  [1_794_751_144, 1_798_099_501],
  ['2026-11-15 and 11/15/2026 and Sunday', '2026-12-24 and 12/24/2026 and Thursday'],
  ['expires Dec 15, 2026', 'expires Jan 23, 2027'],
  ['renewed on 15 December 2026', 'renewed on 24 January 2027'],
  ['Sun, 15 Nov 2026 13:59:04 GMT', 'Thu, 24 Dec 2026 08:05:01 GMT'],
  ['2026:11:15 13:59:04', '2026:12:24 08:05:01'],
  ['sprint 2026-W46', 'sprint 2026-W52'],
  ['seen 2 hours ago', 'seen 39 days ago'],
  ['seen just now', 'seen a minute ago'],
  ['<age>7604 hours</age>', '<age>8534 hours</age>'],
  ['day 2026-319', 'day 2026-358'],
  ['2026-W46-7', '2026-W52-4'],
  ['Sonntag, 15. November 2026', 'Donnerstag, 24. Dezember 2026'],
  ['dimanche 15 novembre 2026', 'jeudi 24 décembre 2026'],
  ['domingo, 15 de noviembre de 2026', 'jueves, 24 de diciembre de 2026'],
  ['2026年11月15日', '2026年12月24日'],
  ['trace 6af9baa8', 'trace 6b2cd22d'],
  ['15.11.26', '24.12.26'],
  ['at=datetime(2026, 11, 15, 13, 59)', 'at=datetime(2026, 12, 24, 8, 5)'],
  ['{{at}} 22:59 Asia/Tokyo', '{{at}} 17:05 Asia/Tokyo'],
])('%s and %s are both now', (then, now) => {
  expect(differOnlyInTime(then, now, CLOCK)).toBe(true)
})

test.each([
  ['opens at 1:59:04 PM', 'opens at 9:30:00 AM'],
  ['made at 13:59:04 by Ada', 'made at 08:05:01 by Eve'],
  ['took 00:00:04', 'took 00:00:09'],
  ['made at 1:59:04 PM', 'made at 1:59:04 AM'],
  ['2026-11-15', '2026-12-25'],
  ['sprint 2026-W46', 'sprint 2026-W51'],
  ['2026-W46-7', '2026-W52-5'],
  ['Sonntag, 15. November 2026', 'Freitag, 24. Dezember 2026'],
  ['trace 6af9baa8', 'trace 6b2dd22d'],
  ['budget of 2026-Q4', 'budget of 2027-Q1'],
  ['2026-11-15', '12/24/2026'],
  ['Nov 15, 2026', 'December 24, 2026'],
  ['2026-11-15T13:59:04Z', '2026-12-24T08:05:01'],
  ['Sun, 15 Nov 2026 13:59:04 GMT', 'Fri, 24 Dec 2026 08:05:01 GMT'],
  ['seen 2 hours ago', 'seen 3 hours ago'],
  ['timeout 30 s', 'timeout 60 s'],
  ['retry in 3 days', 'retry in 5 days'],
  ['made at 13:59:04\nby Ada', 'made at 08:05:01'],
  [10, 11],
])('%s and %s are two things', (then, now) => {
  expect(differOnlyInTime(then, now, CLOCK)).toBe(false)
})

test.each([
  ['month', 11, 12, true],
  ['month', 10, 11, true], // counted from zero
  ['day', 15, 24, true],
  ['hour', 13, 8, true],
  ['day', 15, 25, false],
  ['month', 11, 11.5, false],
  ['size', 15, 24, false],
])('the number of the current %s was %i and is %i: %s', (name, then, now, isTime) => {
  expect(differOnlyInTime(then, now, CLOCK, ['now', name])).toBe(isTime)
})

test.each([
  ['a fixed moment', '2026-03-01 09:30', '2026-03-01 03:30', true],
  ['the current time', '2026-11-15 14:59:04', '2026-12-24 03:05:01', true],
  ['a fixed moment in summer', '2026-07-01 10:30', '2026-07-01 03:30', true],
  ['another moment', '2026-03-01 09:30', '2026-03-01 04:45', false],
  ['a moment that is not local', '2026-03-01T09:30:00Z', '2026-03-01T03:30:00Z', false],
])('a tape of Berlin is judged in Chicago: %s', (_, then, now, isTime) => {
  // Their clocks show the same moment, seven hours apart in this test.
  const offsets = { recorded: [60, 120], live: [-300] }
  expect(differOnlyInTime(then, now, { ...CLOCK, offsets })).toBe(isTime)
})

test('the last days are a list that moved on', () => {
  const days = (from: number) =>
    [0, 1, 2, 3].map((n) => ({ day: new Date(from + (n - 3) * DAY).toISOString().slice(0, 10), open: n > 1 }))
  const differ = createDiffer({ order: 'reported' })
  const clock = { ...CLOCK, live: () => ({ from: RECORDED + 2 * DAY, to: RECORDED + 2 * DAY + 5000 }) }
  const left = (live: object): number =>
    clockTimes.separate(differ.values({ days: days(RECORDED) }, { days: live }), { clock }).kept.length
  expect(left(days(RECORDED + 2 * DAY))).toBe(0)
  expect(left(days(RECORDED + 4 * DAY))).toBeGreaterThan(0)
  expect(left(days(RECORDED + 2 * DAY).toReversed())).toBeGreaterThan(0)
})

test('a local time of day is recognised as the current time', () => {
  expect(differOnlyInTime(`at ${wall(RECORDED + 4000)}`, `at ${wall(LIVE + 1000)}`, CLOCK)).toBe(true)
})

const nanoseconds = (at: number): ExactNumber => new ExactNumber(`${at}123456`)
const hostile = (end: string): string => `${'1 1:1 Mon '.repeat(5000)}${'1'.repeat(5000)}${end}`
const ONE_DAY_LATER = { ...CLOCK, live: () => ({ from: RECORDED + DAY, to: RECORDED + DAY + 5000 }) }

test.each([
  [10, 11, ['age_days'], true],
  [10, 11, ['days', 'left'], false],
  [11, 10, ['daysLeft'], true],
  [10, 11, ['price'], false],
  [10, 11, ['price_per_day'], false],
  [10, 11, ['timeout_days'], false],
  [10, 1450, ['n'], true],
  [10, 34, ['n'], false],
  [10, 58, ['n'], false],
  [2, 3, ['uptime'], true],
  [2, 3, ['s'], false],
  ['2 days', '3 days', ['since_boot'], true],
  ['1.5.2', '1.5.3', ['days'], false],
] as const)('after one day, %s and %s at %s are explained by the clock: %s', (then, now, path, isTime) => {
  expect(differOnlyInTime(then, now, ONE_DAY_LATER, path)).toBe(isTime)
})

test('nanoseconds since 1970, which are too long for a JavaScript number, are times', () => {
  expect(differOnlyInTime(nanoseconds(RECORDED), nanoseconds(LIVE), CLOCK)).toBe(true)
  expect(differOnlyInTime(nanoseconds(RECORDED), nanoseconds(LIVE + DAY), CLOCK)).toBe(false)
})

test('a long hostile text is compared in a short time', () => {
  expect(differOnlyInTime(hostile('a'), hostile('b'), CLOCK)).toBe(false)
})

test.each([
  ['2026-11-15', '2026-11-17', true],
  ['2026-11-15', '2026-11-18', false],
  ['2026-11-15', '2026-11-16', false],
  ['Sunday', 'Tuesday', true],
  ['Sunday', 'Wednesday', false],
  ['2026-11-14', '2026-11-16', true],
])('on a tape of two days ago, %s is now %s: %s', (recorded, live, isSame) => {
  const from = RECORDED + 2 * DAY + 40_000
  const clock = { recorded: CLOCK.recorded, live: () => ({ from, to: from + 5000 }) }
  const differences = createDiffer().values({ at: recorded }, { at: live })
  expect(clockTimes.separate(differences, { differ: createDiffer(), clock }).kept).toHaveLength(
    isSame ? 0 : 1,
  )
})

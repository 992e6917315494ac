import { expect, test } from 'vitest'
import { differOnlyInTime } from './clock.ts'

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
  [1_794_751_144, 1_798_099_501],
])('%s and %s are both now', (then, now) => {
  expect(differOnlyInTime(then, now, CLOCK)).toBe(true)
})

test.each([
  ['opens at 1:59:04 PM', 'opens at 9:30:00 AM'],
  ['made at 13:59:04 by Ada', 'made at 08:05:01 by Eve'],
  ['took 00:00:04', 'took 00:00:09'],
  ['made at 1:59:04 PM', 'made at 1:59:04 AM'],
])('%s and %s are two things', (then, now) => {
  expect(differOnlyInTime(then, now, CLOCK)).toBe(false)
})

test('a local time of day is recognised as the current time', () => {
  expect(differOnlyInTime(`at ${wall(RECORDED + 4000)}`, `at ${wall(LIVE + 1000)}`, CLOCK)).toBe(true)
})

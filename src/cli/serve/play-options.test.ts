import { expect, test } from 'vitest'
import { ReelayError } from '../../errors.ts'
import { takeOptions } from '../options/option.ts'
import { SERVE_OPTIONS, clockTime, repeatedOptions } from '../options/serve-options.ts'
import { fixedClock } from './play-options.ts'

test.each([
  [[]],
  [['--pace', 'recorded', '--pace-cap', '250ms']],
  [['--pace', 'x0.5', '--order', 'recorded', '--on-client-answer', 'fail']],
  [['--override', 'a.yaml', '--faults', 'b.yaml', '--seed', '7', '--clock', 'recorded']],
  [['--clock', '2026-11-15T00:00:00.000Z']],
])('the options of playing are written as they were read: %j', (words) => {
  expect(repeatedOptions(given(words))).toEqual(words)
})

test('a path with a space can be pasted into a shell', () => {
  expect(repeatedOptions(given(['--faults', 'my faults.yaml']))).toEqual(['--faults', "'my faults.yaml'"])
})

test.each([
  ['2026-11-15', '2026-11-15T00:00:00.000Z'],
  ['2026-11-15T07:20', '2026-11-15T07:20:00.000Z'],
  ['2026-11-15T07:20:59.5', '2026-11-15T07:20:59.500Z'],
  ['2026-11-15T07:20:59+02:00', '2026-11-15T05:20:59.000Z'],
])('%s is %s, wherever the run is', (text, time) => {
  const { now } = fixedClock(clock(text), { started: '2020-01-01T00:00:00Z' })
  expect(new Date(now?.() ?? 0).toISOString()).toBe(time)
})

test('the recorded time is when the tape was begun', () => {
  const { now } = fixedClock(clock('recorded'), { started: '2020-01-01T00:00:00Z' })
  expect(now?.()).toBe(Date.parse('2020-01-01T00:00:00Z'))
  expect(fixedClock(undefined, { started: '2020-01-01T00:00:00Z' })).toEqual({})
})

test.each(['yesterday', '2026-13-01', '15.11.2026', '', '1763190000'])('%j is not a time', (text) => {
  expect(clock(text)).toBe(undefined)
})

function given(words: readonly string[]): ReturnType<typeof takeOptions>['given'] {
  return takeOptions(words, SERVE_OPTIONS, (flag) => new ReelayError('USAGE', flag)).given
}

function clock(text: string): ReturnType<typeof clockTime.parse> {
  return clockTime.parse(text, {})
}

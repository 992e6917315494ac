import { Command } from 'commander'
import { expect, test } from 'vitest'
import { formatPlayFlags, fixedClock, readClockOption } from './read-serve-options.ts'
import { declarePlayOptions } from './serve-options.ts'

test.each([
  [[]],
  [['--pace', 'recorded', '--pace-cap', '250ms']],
  [['--pace', 'x0.5', '--order', 'recorded', '--on-client-answer', 'fail']],
  [['--override', 'a.yaml', '--faults', 'b.yaml', '--seed', '7', '--clock', 'recorded']],
  [['--clock', '2026-11-15T00:00:00.000Z']],
])('the options of playing are written as they were read: %j', (words) => {
  const command = declarePlayOptions(new Command()).parse(words, { from: 'user' })
  expect(formatPlayFlags(command.opts())).toEqual(words)
})

test('a path with a space can be pasted into a shell', () => {
  expect(formatPlayFlags({ faults: 'my faults.yaml' })).toEqual(['--faults', "'my faults.yaml'"])
})

test.each([
  ['2026-11-15', '2026-11-15T00:00:00.000Z'],
  ['2026-11-15T07:20', '2026-11-15T07:20:00.000Z'],
  ['2026-11-15T07:20:59.5', '2026-11-15T07:20:59.500Z'],
  ['2026-11-15T07:20:59+02:00', '2026-11-15T05:20:59.000Z'],
])('%s is %s, wherever the run is', (text, time) => {
  const { now } = fixedClock(readClockOption(text), { started: '2020-01-01T00:00:00Z' })
  expect(new Date(now?.() ?? 0).toISOString()).toBe(time)
})

test('the recorded time is when the tape was begun', () => {
  const { now } = fixedClock(readClockOption('recorded'), { started: '2020-01-01T00:00:00Z' })
  expect(now?.()).toBe(Date.parse('2020-01-01T00:00:00Z'))
  expect(fixedClock(undefined, { started: '2020-01-01T00:00:00Z' })).toEqual({})
})

test.each(['yesterday', '2026-13-01', '15.11.2026', '', '1763190000'])(
  '%j is refused with a hint',
  (text) => {
    expect(() => readClockOption(text)).toThrow(`--clock ${text} is no time`)
  },
)

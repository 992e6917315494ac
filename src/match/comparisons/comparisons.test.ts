import { expect, test } from 'vitest'
import { parseComparison } from '../rules.ts'
import type { RequestTimes } from './comparison.ts'

// Recorded in the evening of 15 November, played a week and some hours later.
const TIMES: RequestTimes = {
  recorded: Date.parse('2026-11-15T20:00:00Z'),
  live: Date.parse('2026-11-23T03:00:00Z'),
}

test.each<[string, unknown, unknown, number | undefined]>([
  ['any', 1, { a: 1 }, 1],
  ['any', 'x', 'x', 0],
  ['type', 'x', 'y', 1],
  ['type', [1], [], 1],
  ['type', null, {}, undefined],
  ['type', 1, '1', undefined],
  ['regex ^run-', 'run-1', 'run-2', 1],
  ['regex ^run-', 'run-1', 'walk-2', undefined],
  ['regex ^run-', 'walk-1', 'walk-1', 0],
  ['regex ^run-', 7, 8, undefined],
  ['regex ^/tmp/[^/]+/(.*)$', '/tmp/a1/main.ts', '/tmp/b2/main.ts', 1],
  ['regex ^/tmp/[^/]+/(.*)$', '/tmp/a1/main.ts', '/tmp/b2/other.ts', undefined],
  ['number within 5', 10, 15, 1],
  ['number within 5', 10, 12.5, 0.5],
  ['number within 5', 10, 15.1, undefined],
  ['number within 0.1', 0.2, 0.3, 1],
  ['number within 10%', 200, 220, 1],
  ['number within 10%', 200, 221, undefined],
  ['number within 10%', 0, 0, 0],
  ['number within 10%', 0, 1, undefined],
  ['number within 5', 10, '10', undefined],
  ['unordered', ['a', { b: 1, c: 2 }], [{ c: 2, b: 1 }, 'a'], 0.5],
  ['unordered', ['a', 'a', 'b'], ['a', 'b', 'b'], undefined],
  ['unordered', 'ab', 'ba', undefined],
  ['case-insensitive', 'Straße', 'STRASSE', undefined],
  ['case-insensitive', 'Oslo', 'oSLO', 0.5],
  ['trim', 'Oslo', ' Oslo\n', 0.5],
  ['trim', 'Oslo', 'oslo', undefined],
  // Seven days from its own today, both times.
  ['relative-date', '2026-11-22', '2026-11-30', 0],
  ['relative-date', '2026-11-22', '2026-12-01', 1],
  ['relative-date', '2026-11-22', '2026-12-02', undefined],
  ['relative-date', '2026-11-22', '2026-11-22', undefined],
  ['relative-date within 0d', '2026-11-22', '2026-11-30', 0],
  ['relative-date within 0d', '2026-11-22', '2026-12-01', undefined],
  ['relative-date within 1h', '2026-11-15T21:00:00Z', '2026-11-23T04:30:00Z', 0.5],
  ['relative-date within 1h', '2026-11-15T21:00:00Z', '2026-11-23T05:30:00+00:00', undefined],
  ['relative-date within 1m', '2026-11-15T21:00:00+01:00', '2026-11-23T03:00:00.000Z', 0],
  ['relative-date within 1h', 1794772800, 1795402800, 0],
  ['relative-date within 1h', 1794772800, 1795402800000, undefined],
  ['relative-date', '2026-11-22', '2026-11-30T00:00:00Z', undefined],
  ['relative-date', 'tomorrow', 'tomorrow', undefined],
  ['relative-date', 7, 7, undefined],
])('%s: %j recorded, %j now: %j', (text, recorded, got, distance) => {
  const found = parseComparison(text).distance(recorded, got, TIMES)
  expect(found === undefined ? found : Math.round(found * 1000) / 1000).toBe(distance)
})

test('relative-date matches nothing if the time of the recording is unknown', () => {
  const unknown = { recorded: Number.NaN, live: TIMES.live }
  expect(parseComparison('relative-date').distance('2026-11-22', '2026-11-30', unknown)).toBeUndefined()
})

test.each([
  ['fuzzy', 'unknown comparison "fuzzy"'],
  ['any thing', '"any" takes no arguments, but got "thing"'],
  ['regex', '"regex" needs a pattern'],
  ['regex (', '"(" is not a valid JavaScript regular expression'],
  ['number', 'invalid argument "" for "number"'],
  ['number within -1', 'invalid argument "within -1" for "number"'],
  ['relative-date within a week', 'invalid argument "within a week" for "relative-date"'],
])('%s is rejected: %s', (text, why) => {
  expect(() => parseComparison(text)).toThrow(`invalid matching rule: ${why}`)
})

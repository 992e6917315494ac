import { expect, test } from 'vitest'
import { compareRuns, total } from '../../scripts/conformance/compare.mjs'

const PING = { ping: { 'ping-ok PingOk': 'SUCCESS', 'wire-schema-valid Wire': 'SUCCESS' } }

test('a scenario with the same status for every check is the same', () => {
  expect(compareRuns({ direct: PING, again: PING, recorded: PING })).toEqual([
    {
      scenario: 'ping',
      direct: { passed: 2, failed: 0 },
      recorded: { passed: 2, failed: 0 },
      verdict: 'same',
      differences: [],
    },
  ])
})

test('two checks that change places are a difference, though the counts are equal', () => {
  const direct = { list: { a: 'SUCCESS', b: 'FAILURE' } }
  const recorded = { list: { a: 'FAILURE', b: 'SUCCESS' } }
  expect(compareRuns({ direct, again: direct, recorded })).toEqual([
    {
      scenario: 'list',
      direct: { passed: 1, failed: 1 },
      recorded: { passed: 1, failed: 1 },
      verdict: 'DIFFERENT',
      differences: [
        { check: 'a', direct: 'SUCCESS', recorded: 'FAILURE' },
        { check: 'b', direct: 'FAILURE', recorded: 'SUCCESS' },
      ],
    },
  ])
})

test('a check or a whole scenario that is missing on one side is a difference', () => {
  const recorded = { ping: { 'ping-ok PingOk': 'SUCCESS' }, extra: { a: 'SKIPPED' } }
  const rows = compareRuns({ direct: PING, again: PING, recorded })
  expect(rows.map(({ scenario, verdict, differences }) => ({ scenario, verdict, differences }))).toEqual([
    {
      scenario: 'ping',
      verdict: 'DIFFERENT',
      differences: [{ check: 'wire-schema-valid Wire', direct: 'SUCCESS', recorded: 'missing' }],
    },
    {
      scenario: 'extra',
      verdict: 'DIFFERENT',
      differences: [{ check: 'a', direct: 'missing', recorded: 'SKIPPED' }],
    },
  ])
})

test('a check made several times must come out the same each time', () => {
  const direct = { headers: { 'sent Header': 'SUCCESS SUCCESS' } }
  const recorded = { headers: { 'sent Header': 'FAILURE SUCCESS' } }
  const [row] = compareRuns({ direct, again: direct, recorded })
  expect(row).toMatchObject({ recorded: { passed: 1, failed: 1 }, verdict: 'DIFFERENT' })
})

test('what already differs between two direct runs is unsteady, whatever the recorded run says', () => {
  const again = { ping: { ...PING.ping, 'ping-ok PingOk': 'FAILURE' } }
  expect(compareRuns({ direct: PING, again, recorded: again })[0]?.verdict).toBe('unsteady')
})

test('only a foreign Host that the recorder refuses and the server does not is guarded', () => {
  const check = 'localhost-host-rebinding-rejected DNSRebindingRejected'
  const verdict = (before: string, after: string, more: Record<string, string> = {}): string | undefined => {
    const direct = { dns: { [check]: before } }
    return compareRuns({ direct, again: direct, recorded: { dns: { [check]: after, ...more } } })[0]?.verdict
  }
  expect(verdict('FAILURE', 'SUCCESS')).toBe('guarded')
  expect(verdict('SUCCESS', 'FAILURE')).toBe('DIFFERENT')
  expect(verdict('FAILURE', 'SUCCESS', { another: 'SUCCESS' })).toBe('DIFFERENT')
})

test('totals add up passed and failed', () => {
  expect(
    total([
      { passed: 2, failed: 1 },
      { passed: 3, failed: 0 },
    ]),
  ).toEqual({ passed: 5, failed: 1 })
})

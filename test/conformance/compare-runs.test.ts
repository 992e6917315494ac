import { expect, test } from 'vitest'
import { compareRuns, total } from '../../scripts/conformance/compare.mjs'

type Runs = Parameters<typeof compareRuns>[0]

const PING = { ping: { 'ping-ok PingOk': 'SUCCESS', 'wire-schema-valid Wire': 'SUCCESS' } }

/** Four runs that came out alike, but for those that are given. */
function runs(direct: Runs['direct'], others: Partial<Runs> = {}): Runs {
  return { direct, again: direct, reverse: direct, forward: direct, ...others }
}

test('a scenario with the same status for every check is the same', () => {
  expect(compareRuns(runs(PING))).toEqual([
    {
      scenario: 'ping',
      direct: { passed: 2, failed: 0 },
      reverse: { passed: 2, failed: 0 },
      forward: { passed: 2, failed: 0 },
      verdict: 'same',
      differences: [],
    },
  ])
})

test.each(['reverse', 'forward'] as const)(
  'two checks that change places through the %s proxy are a difference, though the counts are equal',
  (way) => {
    const direct = { list: { a: 'SUCCESS', b: 'FAILURE' } }
    const recorded = { list: { a: 'FAILURE', b: 'SUCCESS' } }
    expect(compareRuns(runs(direct, { [way]: recorded }))).toEqual([
      {
        scenario: 'list',
        direct: { passed: 1, failed: 1 },
        reverse: { passed: 1, failed: 1 },
        forward: { passed: 1, failed: 1 },
        verdict: 'DIFFERENT',
        differences: [
          { way, check: 'a', direct: 'SUCCESS', recorded: 'FAILURE' },
          { way, check: 'b', direct: 'FAILURE', recorded: 'SUCCESS' },
        ],
      },
    ])
  },
)

test('a check or a whole scenario that is missing on one side is a difference', () => {
  const reverse = { ping: { 'ping-ok PingOk': 'SUCCESS' }, extra: { a: 'SKIPPED' } }
  const rows = compareRuns(runs(PING, { reverse }))
  expect(rows.map(({ scenario, verdict, differences }) => ({ scenario, verdict, differences }))).toEqual([
    {
      scenario: 'ping',
      verdict: 'DIFFERENT',
      differences: [
        { way: 'reverse', check: 'wire-schema-valid Wire', direct: 'SUCCESS', recorded: 'missing' },
      ],
    },
    {
      scenario: 'extra',
      verdict: 'DIFFERENT',
      differences: [{ way: 'reverse', check: 'a', direct: 'missing', recorded: 'SKIPPED' }],
    },
  ])
})

test('a scenario with OAuth has no column for the reverse proxy, and must be the same through the forward one', () => {
  const direct = { 'auth/basic': { a: 'SUCCESS' } }
  const [same] = compareRuns(runs(direct, { reverse: {} }))
  expect(same).toMatchObject({ forward: { passed: 1, failed: 0 }, verdict: 'same' })
  expect(same).not.toHaveProperty('reverse')
  expect(compareRuns(runs(direct, { reverse: {}, forward: {} }))[0]?.verdict).toBe('DIFFERENT')
})

test('a check made several times must come out the same each time', () => {
  const direct = { headers: { 'sent Header': 'SUCCESS SUCCESS' } }
  const forward = { headers: { 'sent Header': 'FAILURE SUCCESS' } }
  const [row] = compareRuns(runs(direct, { forward }))
  expect(row).toMatchObject({ forward: { passed: 1, failed: 1 }, verdict: 'DIFFERENT' })
})

test('what already differs between two direct runs is unsteady, whatever the recorded run says', () => {
  const again = { ping: { ...PING.ping, 'ping-ok PingOk': 'FAILURE' } }
  expect(compareRuns(runs(PING, { again, forward: again }))[0]?.verdict).toBe('unsteady')
})

test('only a foreign Host that the reverse proxy refuses and the server does not is guarded', () => {
  const check = 'localhost-host-rebinding-rejected DNSRebindingRejected'
  const verdict = (
    before: string,
    after: string,
    way: 'reverse' | 'forward',
    more = {},
  ): string | undefined =>
    compareRuns(runs({ dns: { [check]: before } }, { [way]: { dns: { [check]: after, ...more } } }))[0]
      ?.verdict
  expect(verdict('FAILURE', 'SUCCESS', 'reverse')).toBe('guarded')
  expect(verdict('SUCCESS', 'FAILURE', 'reverse')).toBe('DIFFERENT')
  expect(verdict('FAILURE', 'SUCCESS', 'reverse', { another: 'SUCCESS' })).toBe('DIFFERENT')
  expect(verdict('FAILURE', 'SUCCESS', 'forward')).toBe('DIFFERENT')
})

test('totals add up passed and failed, and leave out what was not run', () => {
  expect(total([{ passed: 2, failed: 1 }, undefined, { passed: 3, failed: 0 }])).toEqual({
    passed: 5,
    failed: 1,
  })
})

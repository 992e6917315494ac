import { expect, test } from 'vitest'
import type { Miss } from '../match/miss/miss.ts'
import { type Drift, DriftLog, formatDrift, sumServerDrifts, mergeSessionDrifts } from './drift.ts'

const driftOf = (answered: number, left: readonly number[], ...notes: readonly string[]): Drift => ({
  answered,
  leftOver: left.map((frame) => ({ frame, server: 's', method: 'm' })),
  misses: [],
  notes,
})
const framesOf = ({ leftOver }: Drift): readonly number[] => leftOver.map(({ frame }) => frame)

test('of connections that play the same part, only what none asked for is left over, and a note is made once', () => {
  const joined = mergeSessionDrifts(
    driftOf(0, [1, 2, 3]),
    driftOf(2, [2, 3], 'odd'),
    driftOf(1, [1, 3], 'odd'),
  )
  expect([joined.answered, framesOf(joined), joined.notes]).toEqual([3, [3], ['odd']])
})

test('of several servers, everything counts', () => {
  expect(framesOf(sumServerDrifts([driftOf(1, [4, 9]), driftOf(1, [5])]))).toEqual([4, 5, 9])
})

test('every miss of a long run is counted, and only the first thousand are kept', () => {
  const log = new DriftLog({ redactor: undefined })
  const miss = { reason: 'NO_SUCH_METHOD', request: { method: 'm' }, nearest: [] } as unknown as Miss
  for (let n = 0; n < 1200; n++) log.addMiss(miss)
  const one: Drift = { answered: 0, leftOver: [], misses: log.misses, notes: [], ...log.unlisted() }
  const both = mergeSessionDrifts(one, one)
  expect([one.misses.length, both.misses.length]).toEqual([1000, 1000])
  expect(formatDrift(both)).toMatch(/^0 requests answered, 2400 misses, 0 left over\n/)
})

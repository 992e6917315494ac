import { expect, test } from 'vitest'
import { type Drift, sumServerDrifts, mergeSessionDrifts } from './drift.ts'

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

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rankOrder } from './schedule.ts'

const messages = fc.array(
  fc.record({
    rank: fc.integer({ min: 0, max: 5 }),
    producers: fc.array(fc.nat({ max: 11 }), { maxLength: 3 }),
  }),
  { minLength: 12, maxLength: 12 },
)

test('of the messages that wait for no other the one of the lowest rank comes next', () => {
  fc.assert(
    fc.property(messages, (given) => {
      const ranks = Float64Array.from(given, ({ rank }) => rank)
      const producersOf = (index: number): readonly number[] => given[index]?.producers ?? []
      expect(rankOrder(ranks, producersOf)).toEqual(oneByOne(ranks, producersOf))
    }),
  )
})

test('a hundred thousand messages are put in order at once, the last first', () => {
  const size = 100_000
  const order = rankOrder(
    Float64Array.from({ length: size }, (_, index) => -index),
    (index) => (index % 10 === 9 ? [index - 5] : []),
  )
  expect(order).toHaveLength(size)
  expect(order.slice(0, 8)).toEqual([99_998, 99_997, 99_996, 99_995, 99_994, 99_999, 99_993, 99_992])
})

/** The plain way, which looks at all that wait each time. */
function oneByOne(ranks: Float64Array, producersOf: (index: number) => readonly number[]): readonly number[] {
  const waiting = Array.from(ranks.keys()).toSorted((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b)
  const order: number[] = []
  while (waiting.length > 0) {
    const place = waiting.findIndex((index) => producersOf(index).every((one) => order.includes(one)))
    order.push(...waiting.splice(Math.max(place, 0), 1))
  }
  return order
}

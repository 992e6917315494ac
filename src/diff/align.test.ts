import fc from 'fast-check'
import { expect, test } from 'vitest'
import { longestCommonSubsequence } from './align.ts'

const words = fc.array(fc.constantFrom('a', 'b', 'c', ''))

test('a common subsequence contains equal items, in the order of both lists', () => {
  fc.assert(
    fc.property(words, words, (expected, actual) => {
      const common = longestCommonSubsequence(expected, actual)
      for (const [index, item] of common.entries()) {
        const previous = common[index - 1] ?? { expected: -1, actual: -1 }
        expect(expected[item.expected]).toBe(actual[item.actual])
        expect(item.expected).toBeGreaterThan(previous.expected)
        expect(item.actual).toBeGreaterThan(previous.actual)
      }
    }),
  )
})

test('a list that lost some items has all others in common', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean())), (items) => {
      const all = items.map(([item]) => item)
      const rest = items.flatMap(([item, isKept]) => (isKept ? [item] : []))
      expect(longestCommonSubsequence(all, rest)).toHaveLength(rest.length)
    }),
  )
})

test('long lists that have nothing in common have no common subsequence', () => {
  expect(longestCommonSubsequence(numbered('one'), numbered('other'))).toEqual([])
})

function numbered(word: string): readonly string[] {
  return Array.from({ length: 3000 }, (_, n) => `${word} ${n}`)
}

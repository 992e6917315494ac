import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KnownValues } from './known-values.ts'

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 6 })

test('values are found from left to right, and the longest one wins', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.array(word), (values, pieces) => {
      const known = new KnownValues()
      for (const value of values) known.add(value)
      const text = pieces.join('')
      const longestFirst = values.toSorted((a, b) => b.length - a.length).join('|')
      const expected = [...text.matchAll(new RegExp(longestFirst, 'g'))]
      expect(known.find(text)).toEqual(
        expected.map(({ 0: { length }, index }) => ({ start: index, end: index + length })),
      )
    }),
  )
})

test('a value of any length can be known', () => {
  const known = new KnownValues()
  const value = 'x'.repeat(1_000_000)
  known.add(value)
  expect(known.find(`a ${value} b`)).toEqual([{ start: 2, end: 1_000_002 }])
})

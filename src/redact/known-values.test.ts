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

test('values of which only fingerprints are kept are found as well', () => {
  const longWord = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), minLength: 8, maxLength: 12 })
  fc.assert(
    fc.property(
      fc.uniqueArray(longWord, { minLength: 1, maxLength: 30 }),
      fc.array(longWord),
      fc.integer(),
      (values, pieces, seed) => {
        const known = new KnownValues({ maxKept: 2, seed: () => seed })
        for (const value of values) known.add(value)
        const text = [...pieces, ...values].join('')
        const found = known.find(text).map(({ start, end }) => text.slice(start, end))
        // Values that overlap in the text are found as one place.
        for (const part of found) {
          expect(values.some((value) => part.startsWith(value))).toBe(true)
          expect(values.some((value) => part.endsWith(value))).toBe(true)
        }
        const kept = known.kept
        for (const value of values.filter((each) => !kept.includes(each)))
          expect(found.some((part) => part.includes(value))).toBe(true)
        expect(values.every((value) => known.has(value))).toBe(true)
        expect(known.has(`${values.join('')}!`)).toBe(false)
      },
    ),
    { examples: [[['aaaaaaab', 'aaaaaaaa', 'aaaaaaaaa'], ['aaaaaaaa', 'aaaaaaa'], 0]] },
  )
})

const numbered = (n: number): string => `value-${n * 7919}-${n}`

test('hundreds of thousands of values are found', () => {
  const known = new KnownValues({ maxKept: 10, seed: () => 7 })
  for (let n = 0; n < 260_000; n++) known.add(numbered(n))
  for (let n = 0; n < 260_000; n += 997) expect(known.find(`a ${numbered(n)}b`)).toHaveLength(1)
})

test('values that hardly differ from many others are not remembered, and do not slow down a search', () => {
  const known = new KnownValues({ maxKept: 0, seed: () => 7 })
  for (let n = 1; n < 300; n++) known.add('ab'.repeat(n + 4))
  const size = known.size
  known.add('ab'.repeat(5000))
  expect(known.size).toBe(size) // a search is repeated for each new value
  expect(known.find('ab'.repeat(20_000))).toHaveLength(1)
})

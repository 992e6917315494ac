import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOf, hashOfNumber, hasSpace } from './word-hashes.ts'

test('a number has the hash of its spelling', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(), fc.double({ min: 0, noNaN: true }), fc.maxSafeNat()), (value) => {
      expect(hashOfNumber(value)).toBe(hashOf(String(value)))
    }),
  )
  for (const value of [0, 9, 10, 100, 999_999_999, 1_000_000_000])
    expect(hashOfNumber(value)).toBe(hashOf(String(value)))
})

test('a space is found wherever a text has one, of whatever kind', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(hasSpace(text)).toBe(/\s/.test(text))
    }),
  )
  for (const text of ['\u00a0', 'é\u2003x', 'a\tb', 'a\u0001b', ''])
    expect(hasSpace(text)).toBe(/\s/.test(text))
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Hashes } from './hashes.ts'
import { RUNS } from './runs.ts'
import { hashOf, hashOfNumber, hasSpace, listHashes } from './word-hashes.ts'

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

const UUID = '5f2c9d1e-0b1f-4111-8222-ABCDEFabcdef'

test('a uuid is one word, wherever it stands; what is not quite one is several', () => {
  expect(hashesIn(UUID)).toEqual([hashOf(UUID)])
  expect(hashesIn(`see job/${UUID}-2.`)).toEqual([`see job/${UUID}-2.`, 'job', UUID, '2'].map(hashOf))
  expect(hashesIn(`é/${UUID}`)).toEqual(['é', UUID].map(hashOf))
  for (const text of [`${UUID}0`, `0${UUID}`, UUID.replace('b', 'g'), UUID.replaceAll('-', '_')])
    expect(hashesIn(text)).toEqual((text.match(/[a-z\d]+/gi) ?? []).map(hashOf))
})

test('the words of a text are its runs, of whatever letters it is made', () => {
  const part = fc.constantFrom(UUID, '5f2c9d1e', '0b1f', 'abcdefabcdef', 'g', '-', '/', '0', 'é')
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 9 }), (parts) => {
      const text = parts.join('')
      expect(hashesIn(text)).toEqual(expect.arrayContaining((text.match(RUNS) ?? [text]).map(hashOf)))
    }),
  )
})

function hashesIn(text: string): readonly number[] {
  const hashes = new Hashes()
  listHashes(text, hashes)
  return Array.from({ length: hashes.size }, (_, at) => hashes.at(at))
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WordHashList, wordHash, numberWordHash, containsSpace, collectTextHashes } from './message-words.ts'
import { WORD_RUNS } from '../values.ts'

test('a number has the hash of its decimal spelling', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(), fc.double({ min: 0, noNaN: true }), fc.maxSafeNat()), (value) => {
      expect(numberWordHash(value)).toBe(wordHash(String(value)))
    }),
  )
  for (const value of [0, 9, 10, 100, 999_999_999, 1_000_000_000])
    expect(numberWordHash(value)).toBe(wordHash(String(value)))
})

test('spaces of all kinds are found', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(containsSpace(text)).toBe(/\s/.test(text))
    }),
  )
  for (const text of ['\u00a0', 'é\u2003x', 'a\tb', 'a\u0001b', ''])
    expect(containsSpace(text)).toBe(/\s/.test(text))
})

const UUID = '5f2c9d1e-0b1f-4111-8222-ABCDEFabcdef'

test('a UUID is one word in any text, and a text that resembles one is several words', () => {
  expect(hashesIn(UUID)).toEqual([wordHash(UUID)])
  expect(hashesIn(`see job/${UUID}-2.`)).toEqual([`see job/${UUID}-2.`, 'job', UUID, '2'].map(wordHash))
  expect(hashesIn(`é/${UUID}`)).toEqual(['é', UUID].map(wordHash))
  for (const text of [`${UUID}0`, `0${UUID}`, UUID.replace('b', 'g'), UUID.replaceAll('-', '_')])
    expect(hashesIn(text)).toEqual((text.match(/[a-z\d]+/gi) ?? []).map(wordHash))
})

test('the words of a text are its runs of letters and digits', () => {
  const part = fc.constantFrom(UUID, '5f2c9d1e', '0b1f', 'abcdefabcdef', 'g', '-', '/', '0', 'é')
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 9 }), (parts) => {
      const text = parts.join('')
      expect(hashesIn(text)).toEqual(expect.arrayContaining((text.match(WORD_RUNS) ?? [text]).map(wordHash)))
    }),
  )
})

function hashesIn(text: string): readonly number[] {
  const hashes = new WordHashList()
  collectTextHashes(text, hashes)
  return Array.from({ length: hashes.size }, (_, at) => hashes.at(at))
}

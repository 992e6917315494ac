import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TextHashSet, WordFilter } from './word-sets.ts'
import { wordHash } from './message-words.ts'

const MANY = 200_000

test('every word that was added is found, and hardly any other word', () => {
  const words = new WordFilter()
  for (let word = 0; word < MANY; word++) words.add(wordHash(`word${word}`))
  const found = (name: string): number =>
    Array.from({ length: MANY }, (_, word) => words.mayHave(wordHash(`${name}${word}`))).filter(Boolean)
      .length
  expect(found('word')).toBe(MANY)
  expect(found('other')).toBeLessThan(MANY / 1000)
})

test('added texts are in the set, and none of a few thousand others', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 3000 }), (texts) => {
      const set = new TextHashSet()
      const [added, others] = [texts.slice(0, texts.length / 2), texts.slice(texts.length / 2)]
      for (const text of added) set.add(text)
      expect(added.every((text) => set.has(text))).toBe(true)
      expect(others.filter((text) => set.has(text))).toEqual([])
    }),
  )
})

test('many texts of the same length, such as ids, do not collide', () => {
  const set = new TextHashSet()
  const ids = Array.from({ length: 150_000 }, (_, index) => String(1e9 + index))
  for (const id of ids) set.add(id)
  expect(ids.every((id) => set.has(id))).toBe(true)
  expect(set.has(String(1e9 - 1))).toBe(false)
})

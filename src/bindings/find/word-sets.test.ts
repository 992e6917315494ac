import { expect, test } from 'vitest'
import { WordBloomFilter, LastSentWords } from './word-sets.ts'
import { wordHash } from './message-words.ts'

const MANY = 200_000

test('of very many words it is known until when each was sent, and of other words that they were not', () => {
  const words = new LastSentWords()
  for (let word = 1; word <= MANY; word++) words.markSent(wordHash(`word${word}`), word)
  for (let word = 1; word <= MANY; word += 7) {
    expect(words.isSentAfter(wordHash(`word${word}`), word - 1)).toBe(true)
    expect(words.isSentAfter(wordHash(`word${word}`), word)).toBe(false)
    expect(words.isSentAfter(wordHash(`other${word}`), 0)).toBe(false)
  }
})

test('every word that was said is known, and hardly one that was not', () => {
  const words = new WordBloomFilter(MANY / 8)
  for (let word = 0; word < MANY; word++) words.add(wordHash(`word${word}`))
  const known = (name: string): number =>
    Array.from({ length: MANY }, (_, word) => words.mayHold(wordHash(`${name}${word}`))).filter(Boolean)
      .length
  expect(known('word')).toBe(MANY)
  expect(known('other')).toBeLessThan(MANY / 50)
})

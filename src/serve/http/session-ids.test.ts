import { expect, test } from 'vitest'
import { sessionIdGenerator } from './serve-http.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const some = (seed: number | undefined): readonly string[] =>
  Array.from({ length: 100 }, sessionIdGenerator(seed))

test('the same seed makes up the same ids in the same order, all different; another seed makes others', () => {
  const [first, again, other, chance] = [some(7), some(7), some(8), some(undefined)]
  expect(again).toEqual(first)
  for (const ids of [other, chance]) expect(ids.filter((id) => first.includes(id))).toEqual([])
  for (const ids of [first, other, chance]) {
    expect(ids.filter((id) => !UUID.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(100)
  }
})

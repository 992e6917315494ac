import { expect, test } from 'vitest'
import { Counter } from './counter.ts'

test('the digits are those of the number, over every carry', () => {
  const counter = new Counter()
  const wrong: number[] = []
  for (let value = 0; value < 100_100; value++) {
    if (Buffer.from(counter.digits).toString('latin1') !== String(value)) wrong.push(value)
    counter.next()
  }
  expect(wrong).toEqual([])
  expect(counter.value).toBe(100_100)
})

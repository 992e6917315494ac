import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DigitCounter, writeMilliseconds } from './write.ts'

test('the digits are those of the number, over every carry', () => {
  const counter = new DigitCounter()
  const wrong: number[] = []
  for (let value = 0; value < 100_100; value++) {
    if (Buffer.from(counter.digits).toString('latin1') !== String(value)) wrong.push(value)
    counter.next()
  }
  expect(wrong).toEqual([])
  expect(counter.value).toBe(100_100)
})

test('a time is written with three decimals, however long a session lasts', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (micros) => {
      const target = Buffer.alloc(40)
      const end = writeMilliseconds(target, 3, micros / 1000)
      expect(target.toString('latin1', 3, end)).toBe((micros / 1000).toFixed(3))
    }),
  )
})

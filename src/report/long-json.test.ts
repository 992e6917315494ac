import fc from 'fast-check'
import { expect, test } from 'vitest'
import { streamJson, StreamedList } from './long-json.ts'

test('a document is written as JSON.stringify writes it, whatever its lists hold', () => {
  const value = fc.jsonValue()
  const list = fc.array(fc.oneof(fc.dictionary(fc.string(), value), fc.array(value)))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), list, list, (plain, first, second) => {
      const lists = {
        'a list': new StreamedList(() => first),
        'another "list"': new StreamedList(() => second),
      }
      const whole = { ...plain, 'a list': first, 'another "list"': second }
      expect([...streamJson({ ...plain, ...lists })].join('')).toBe(`${JSON.stringify(whole, null, 2)}\n`)
    }),
  )
})

test('members without a value are left out, and so a document may be empty', () => {
  expect([...streamJson({ a: undefined, b: 1 })].join('')).toBe('{\n  "b": 1\n}\n')
  expect([...streamJson({ a: undefined })].join('')).toBe('{}\n')
})

test('an item is asked for when the one before it is written', () => {
  const asked: number[] = []
  const items = function* (): Generator<object> {
    for (let item = 0; item < 3; item++) {
      asked.push(item)
      yield { item }
    }
  }
  const seen: number[] = []
  for (const text of streamJson({ items: new StreamedList(items) }))
    if (text.includes('item"')) seen.push(asked.length)
  expect(seen.slice(-3)).toEqual([1, 2, 3])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indentJson, streamJson, StreamedList, toSerializable, parseOrKeepText } from './json-text.ts'

test('the layout is that of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, spaces) => {
      const spelled = JSON.stringify(value, null, spaces)
      expect(indentJson(spelled)).toBe(JSON.stringify(JSON.parse(spelled), null, 2))
    }),
  )
})

test('numbers, escapes and repeated keys stay unchanged', () => {
  expect(indentJson(String.raw`{"b":1.0,"a":1e2,"b":12345678901234567890,"s":"\u0041\\\"{,"}`)).toBe(
    [
      '{',
      '  "b": 1.0,',
      '  "a": 1e2,',
      '  "b": 12345678901234567890,',
      String.raw`  "s": "\u0041\\\"{,"`,
      '}',
    ].join('\n'),
  )
})

test('a message with a hundred thousand levels can be indented', () => {
  const nested = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(indentJson(nested).replaceAll(/\s/g, '')).toBe(nested)
  expect(indentJson(nested).length).toBeLessThan(nested.length * 2)
})

test('a streamed document has the text of JSON.stringify', () => {
  const value = fc.jsonValue()
  const list = fc.array(fc.oneof(fc.dictionary(fc.string(), value), fc.array(value)))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), list, list, (plain, first, second) => {
      const lists = {
        'a list': new StreamedList(() => first),
        'another "list"': new StreamedList(() => second),
      }
      const nested = new StreamedList(() => [lists])
      const inner = { 'a list': first, 'another "list"': second }
      const whole = { ...plain, ...inner, nested: [inner] }
      expect([...streamJson({ ...plain, ...lists, nested })].join('')).toBe(
        `${JSON.stringify(whole, null, 2)}\n`,
      )
    }),
  )
})

test('members without a value are skipped, so a document may be empty', () => {
  expect([...streamJson({ a: undefined, b: 1 })].join('')).toBe('{\n  "b": 1\n}\n')
  expect([...streamJson({ a: undefined })].join('')).toBe('{}\n')
})

test('an item is created after the one before it is written', () => {
  const created: number[] = []
  const items = function* (): Generator<object> {
    for (let item = 0; item < 3; item++) {
      created.push(item)
      yield { item }
    }
  }
  const seen: number[] = []
  for (const text of streamJson({ items: new StreamedList(items) }))
    if (text.includes('item"')) seen.push(created.length)
  expect(seen.slice(-3)).toEqual([1, 2, 3])
})

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000)

test('a value that JSON.stringify can write stays a value', () => {
  expect(parseOrKeepText('{"a":[1,{"b":null}]}')).toEqual({ a: [1, { b: null }] })
  expect(toSerializable({ a: [] })).toEqual({ a: [] })
  expect([parseOrKeepText('oops'), parseOrKeepText(undefined), toSerializable(undefined)]).toEqual([
    'oops',
    null,
    undefined,
  ])
})

test('a value that is nested too deeply becomes its JSON text', () => {
  expect(parseOrKeepText(DEEP) === DEEP).toBe(true)
  expect(toSerializable(JSON.parse(DEEP)) === DEEP).toBe(true)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indentJson } from './layout-json.ts'

test('the layout is the one that JSON.stringify gives', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, spaces) => {
      const spelled = JSON.stringify(value, null, spaces)
      expect(indentJson(spelled)).toBe(JSON.stringify(JSON.parse(spelled), null, 2))
    }),
  )
})

test('numbers, escapes and repeated keys stay as they were spelled', () => {
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

test('a message nested a hundred thousand times is laid out without breaking anything', () => {
  const nested = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(indentJson(nested).replaceAll(/\s/g, '')).toBe(nested)
  expect(indentJson(nested).length).toBeLessThan(nested.length * 2)
})

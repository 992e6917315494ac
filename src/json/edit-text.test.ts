import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePath } from './path.ts'
import { editText } from './edit-text.ts'

const TEXT = '{"a" : {"b":1.0, "big":12345678901234567890},"list":[ {"x":1},{"x":2e0} ], "s":"\\u00e9"}'

test.each<[string, string, unknown, string | undefined]>([
  ['a value', 'a.b', 7, TEXT.replace('1.0', '7')],
  ['an item', 'list[1].x', 7, TEXT.replace('[ {"x":1},{"x":2e0} ]', '[{"x":1},{"x":7}]')],
  ['every item', 'list[*].x', 7, TEXT.replace('[ {"x":1},{"x":2e0} ]', '[{"x":7},{"x":7}]')],
  ['a member that is new', 'a.c', 7, TEXT.replace('7890}', '7890,"c":7}')],
  ['members that are missing on the way', 'a.c.d', 7, TEXT.replace('7890}', '7890,"c":{"d":7}}')],
  ['one more item', 'list[2]', 7, TEXT.replace('[ {"x":1},{"x":2e0} ]', '[{"x":1},{"x":2e0},7]')],
  ['an item far beyond the end', 'list[9]', 7, TEXT],
  ['a member of what is no object', 's.x', 7, TEXT],
  ['an item of what is no list', 'a[0]', 7, TEXT],
  [
    'a member that is taken away',
    'a.b',
    undefined,
    TEXT.replace('{"b":1.0, "big":12345678901234567890}', '{"big":12345678901234567890}'),
  ],
  ['what is not there and taken away', 'a.c.d', undefined, TEXT],
])('%s is edited, and every other byte is as it was', (_, path, value, expected) => {
  expect(editText(TEXT, parsePath(path), () => value)).toBe(expected)
})

test('what a change leaves alone keeps its spelling', () => {
  expect(editText(TEXT, parsePath('a.big'), (value) => value)).toBe(TEXT)
})

test('a value that is set is there, and all others are what they were', () => {
  const value = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
  fc.assert(
    fc.property(value, fc.string(), fc.jsonValue(), (object, name, part) => {
      const edited = editText(JSON.stringify(object), [name], () => part)
      const expected = new Map(Object.entries(object)).set(name, part)
      expect(JSON.parse(edited ?? '')).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(expected))))
    }),
  )
})

test('a text that is nested deeper than any stack is edited beside its depth', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(editText(`{"deep":${deep},"a":1}`, ['a'], () => 2)).toBe(`{"deep":${deep},"a":2}`)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EVERY_ITEM, formatPath, parsePath } from './path.ts'

test('a path names members, items and every item', () => {
  expect(parsePath('params.arguments.limit')).toEqual(['params', 'arguments', 'limit'])
  expect(parsePath('params.arguments.items[0].id')).toEqual(['params', 'arguments', 'items', 0, 'id'])
  expect(parsePath('params.arguments.items[*].id')).toEqual([
    'params',
    'arguments',
    'items',
    EVERY_ITEM,
    'id',
  ])
  expect(parsePath('params.arguments["a.b"]["*"]')).toEqual(['params', 'arguments', 'a.b', '*'])
  expect(parsePath('["a b"].x-y.größe.$ref.0')).toEqual(['a b', 'x-y', 'größe', '$ref', '0'])
})

test('a name is quoted only where it must be', () => {
  expect(formatPath(['params', 'a.b', 'c', 0, EVERY_ITEM, '', '*', 'say "hi"'])).toBe(
    'params["a.b"].c[0][*][""]["*"]["say \\"hi\\""]',
  )
})

test('whatever is printed can be read again', () => {
  const segment = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.nat(), fc.constant(EVERY_ITEM))
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1 }), (path) => {
      expect(parsePath(formatPath(path))).toEqual(path)
    }),
  )
})

test.each([
  ['', 'expected a name at position 1'],
  ['params.', 'expected a name at position 8'],
  ['params..limit', 'expected a name at position 8'],
  ['params.*', 'expected a name at position 8'],
  ['params[x]', 'expected [0], [*] or ["a name"] at position 7'],
  ['params["x]', 'expected [0], [*] or ["a name"] at position 7'],
  ['params["\\x"]', 'the quoted name is no JSON string at position 7'],
  ['params[0]limit', 'expected "." or "[" at position 10'],
  ['params arguments', 'expected "." or "[" at position 7'],
])('the path %j is refused with the place and a hint', (text, why) => {
  expect(() => parsePath(text)).toThrow(
    expect.objectContaining({
      code: 'PATH_INVALID',
      message: `cannot read the path ${JSON.stringify(text)}: ${why}`,
      hint: expect.stringContaining('params.arguments.limit'),
    }),
  )
})

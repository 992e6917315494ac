import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EVERY_ITEM, formatPath, omitPaths, parsePath } from './path.ts'

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

test('a formatted path can be parsed again', () => {
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
  ['params["\\x"]', 'the quoted name is not a JSON string at position 7'],
  ['params[0]limit', 'expected "." or "[" at position 10'],
  ['params arguments', 'expected "." or "[" at position 7'],
])('the error for the path %j names the position and has a hint', (text, why) => {
  expect(() => parsePath(text)).toThrow(
    expect.objectContaining({
      code: 'PATH_INVALID',
      message: `cannot read the path ${JSON.stringify(text)}: ${why}`,
      hint: expect.stringContaining('params.arguments.limit'),
    }),
  )
})

const value = { a: { b: 1, c: 2 }, items: [{ id: 1, n: 'x' }, { id: 2, n: 'y' }, 3], 'd.e': 4 }

test.each([
  [['a.b'], { ...value, a: { c: 2 } }],
  [['a.b', 'a.c'], { ...value, a: {} }],
  [['a', 'a.b'], { items: value.items, 'd.e': 4 }],
  [['["d.e"]'], { a: value.a, items: value.items }],
  [['items[*].id'], { ...value, items: [{ n: 'x' }, { n: 'y' }, 3] }],
  [['items[0]', 'items[1].n'], { ...value, items: [{ id: 2 }, 3] }],
  [['items[*]'], { ...value, items: [] }],
  [['nothing.here', 'a[0]', 'items.id', 'a.b.c'], value],
])('without %j', (paths, rest) => {
  expect(omitPaths(value, paths.map(parsePath))).toEqual(rest)
})

test('omitPaths does not change the value itself', () => {
  const frozen = Object.freeze({ a: Object.freeze([1, 2]) })
  expect(omitPaths(frozen, [parsePath('a[0]')])).toEqual({ a: [2] })
  expect(frozen).toEqual({ a: [1, 2] })
})

test('a member named __proto__ is a member like any other', () => {
  const odd: unknown = JSON.parse('{"__proto__":{"x":1,"y":2}}')
  expect(JSON.stringify(omitPaths(odd, [parsePath('__proto__.x')]))).toBe('{"__proto__":{"y":2}}')
})

import { expect, test } from 'vitest'
import { parsePath } from '../json/path.ts'
import { omitPaths } from './path-values.ts'

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

test('the value itself is not touched', () => {
  const frozen = Object.freeze({ a: Object.freeze([1, 2]) })
  expect(omitPaths(frozen, [parsePath('a[0]')])).toEqual({ a: [2] })
  expect(frozen).toEqual({ a: [1, 2] })
})

test('a member named __proto__ is a member like any other', () => {
  const odd: unknown = JSON.parse('{"__proto__":{"x":1,"y":2}}')
  expect(JSON.stringify(omitPaths(odd, [parsePath('__proto__.x')]))).toBe('{"__proto__":{"y":2}}')
})

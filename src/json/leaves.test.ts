import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeLeaf, jsonLeaves } from './leaves.ts'
import { formatPath } from './path.ts'

test('every string, number and literal is returned with its path, as it is spelled', () => {
  const text = '{ "a": [1.0, {"b\\u0063": "x\\n"}], "": null, "e": [], "t": true, "n": -12e3 }'
  const told = jsonLeaves(text).map(
    (leaf) => `${formatPath(leaf.path)} ${JSON.stringify(decodeLeaf(text, leaf))}`,
  )
  expect(told).toEqual(['a[0] "1.0"', 'a[1].bc "x\\n"', '[""] "null"', 't "true"', 'n "-12e3"'])
})

test('a text that is one leaf has an empty path', () => {
  expect(jsonLeaves(' "x" ')).toEqual([{ path: [], start: 1, end: 4 }])
})

test('the leaf at each path is the value that JSON.parse sees there', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), (value, space) => {
      const text = JSON.stringify(value, null, space)
      for (const { path, start, end } of jsonLeaves(text)) {
        const there = path.reduce<unknown>((at, step) => Reflect.get(Object(at), step), value)
        expect(JSON.parse(text.slice(start, end))).toEqual(JSON.parse(JSON.stringify(there)))
      }
    }),
  )
})

test('leaves of very deep nesting are left out', () => {
  expect(jsonLeaves(`[1,${'['.repeat(100_000)}2${']'.repeat(100_000)},3]`).map(({ path }) => path)).toEqual([
    [0],
    [2],
  ])
})

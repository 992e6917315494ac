import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../json/canonical.ts'
import { diffFields } from './field-diff.ts'
import { formatPath, omitPaths } from '../json/path.ts'

test('every field that differs is listed once, with both values', () => {
  const recorded = { q: 'a', limit: 10, tags: ['x', 'y'], only: { once: 1 }, kind: [1] }
  const got = { q: 'a', limit: 20, tags: ['x'], now: null, kind: { x: 1 } }
  const { differences, equal, fields } = diffFields(recorded, got, ['params'])
  expect(differences.map(({ path, ...sides }) => [formatPath(path), sides])).toEqual([
    ['params.limit', { recorded: 10, got: 20 }],
    ['params.tags[1]', { recorded: 'y' }],
    ['params.only', { recorded: { once: 1 } }],
    ['params.kind', { recorded: [1], got: { x: 1 } }],
    ['params.now', { got: null }],
  ])
  expect(equal.map(formatPath)).toEqual(['params.q', 'params.tags[0]'])
  expect(fields).toBe(7)
})

test('equal values have distance 0, and the order of keys does not matter', () => {
  expect(diffFields({ a: 1, b: [] }, { b: [], a: 1 }, []).distance).toBe(0)
  expect(diffFields(undefined, undefined, []).distance).toBe(0)
})

test('a text with the same ends is nearer than another text, and a changed value is nearer than a missing one', () => {
  const [similar, other, missing] = [{ path: '/src/main.ts' }, { path: 'README' }, {}].map(distanceTo)
  expect(similar).toBeLessThan(other ?? 0)
  expect(other).toBeLessThanOrEqual(missing ?? 0)
})

test('any two values are equal without the listed fields', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(object, object, (recorded, got) => {
      const paths = diffFields(recorded, got, []).differences.map(({ path }) => path)
      expect(canonicalJson(omitPaths(recorded, paths))).toBe(canonicalJson(omitPaths(got, paths)))
    }),
  )
})

test('a very deeply nested value can be compared', () => {
  expect(diffFields(nested('1'), nested('1'), []).distance).toBe(0)
  expect(diffFields(nested('1'), nested('2'), []).differences).toHaveLength(1)
})

function distanceTo(got: unknown): number {
  return diffFields({ path: '/src/index.ts' }, got, []).distance
}

function nested(inside: string): unknown {
  return JSON.parse('['.repeat(20_000) + inside + ']'.repeat(20_000))
}

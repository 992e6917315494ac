import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../json/canonical.ts'
import { isObject } from '../json/parse.ts'
import { createDiffer } from './diff.ts'
import { formatPath } from '../json/path.ts'
import type { Difference } from './difference.ts'

// Strings that contain JSON are compared as JSON, which another test covers.
const isProse = (value: unknown): boolean => !/"\s*[[{]/.test(JSON.stringify([value]))
const json = fc.jsonValue({ maxDepth: 4 }).filter(isProse)

test('a value has no differences from itself, however it is formatted', () => {
  fc.assert(
    fc.property(json, (value) => {
      const differ = createDiffer({ order: 'kept' })
      expect(differ.texts(JSON.stringify(value), JSON.stringify(value, null, 1))).toEqual([])
      expect(differ.values(value, structuredClone(value))).toEqual([])
    }),
  )
})

test('two values without differences are equal', () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const differ = createDiffer({ order: 'kept' })
      const found = differ.values(one, other)
      expect(found.length === 0).toBe(canonicalJson(one) === canonicalJson(other))
    }),
  )
})

test('applying the differences to one object gives the other', () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
  const members = fc
    .dictionary(fc.string(), fc.oneof(scalar, fc.dictionary(fc.string(), scalar)))
    .filter(isProse)
  fc.assert(
    fc.property(members, members, (one, other) => {
      const made: unknown = JSON.parse(JSON.stringify(one))
      const differences = createDiffer().values(one, other)
      for (const difference of differences.filter(({ kind }) => kind !== 'renamed')) make(made, difference)
      // Other paths have the old names, so members get their new names last, the inner ones first.
      for (const difference of differences.filter(({ kind }) => kind === 'renamed').toReversed())
        rename(made, difference)
      expect(canonicalJson(made)).toBe(canonicalJson(other))
    }),
  )
})

test('the order of items makes no difference if it is free', () => {
  const list = fc.array(fc.oneof(fc.integer(), fc.string(), fc.record({ id: fc.uuid(), n: fc.integer() })))
  fc.assert(
    fc.property(list, fc.infiniteStream(fc.nat()), (items, order) => {
      const shuffled = items
        .map((item) => ({ item, key: order.next().value }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ item }) => item)
      expect(createDiffer().values(items, shuffled)).toEqual([])
    }),
  )
})

test('an ignored member is never a difference and hides no other', () => {
  fc.assert(
    fc.property(json, json, json, (kept, one, other) => {
      const ignoring = createDiffer({ ignore: [['a', 'noise']] })
      expect(ignoring.values(noisy(one, kept), noisy(other, kept))).toEqual([])
      const visible = createDiffer().values({ a: { rest: one } }, { a: { rest: other } })
      expect(ignoring.values(noisy(1, one), noisy(2, other))).toEqual(visible)
    }),
  )
})

function noisy(noise: unknown, rest: unknown): unknown {
  return { a: { noise, rest } }
}

function rename(target: unknown, { path, expected, actual }: Difference): void {
  const holder = Object(path.reduce<unknown>((at, step) => Reflect.get(Object(at), step), target))
  const value: unknown = Reflect.get(holder, String(expected))
  Reflect.deleteProperty(holder, String(expected))
  Object.defineProperty(holder, String(actual), { value, enumerable: true, configurable: true })
}

function make(target: unknown, { path, kind, actual }: Difference): void {
  const holder = path.slice(0, -1).reduce<unknown>((at, step) => Reflect.get(Object(at), step), target)
  const name = path.at(-1)
  if (!isObject(holder) || name === undefined) throw new Error(`there is no ${formatPath(path)}`)
  if (kind === 'removed') Reflect.deleteProperty(holder, name)
  else Object.defineProperty(holder, name, { value: actual, enumerable: true, configurable: true })
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './canonical.ts'

const DEPTH = 200_000

test('keys are sorted at every depth, and there is no white space', () => {
  expect(canonicalJson(JSON.parse('{ "b": [ { "z": 1, "y": 2 } ], "a": "x y" }'))).toBe(
    '{"a":"x y","b":[{"y":2,"z":1}]}',
  )
})

test('keys sort by code unit, also when there are many', () => {
  const names = [
    'é',
    'z',
    'a',
    'Z',
    '10',
    '9',
    '',
    '\u{1f600}',
    '\uffff',
    ...'bcdefghijklmnopqrstuvwxy0123456'.split(''),
  ]
  const keys = Object.keys(
    JSON.parse(canonicalJson(Object.fromEntries(names.map((name) => [`k${name}`, 0])))),
  )
  expect(keys).toEqual(names.map((name) => `k${name}`).toSorted())
})

test('text outside ASCII stays readable', () => {
  expect(canonicalJson({ uri: 'file:///日本/naïve/😀.txt' })).toBe('{"uri":"file:///日本/naïve/😀.txt"}')
})

test('numbers are written as JavaScript prints them', () => {
  expect(canonicalJson(JSON.parse('[1.0, -0, 1e3, 1.50, 12345678901234567890, 1e400]'))).toBe(
    '[1,0,1000,1.5,12345678901234567000,null]',
  )
})

test('strings are escaped as JSON.stringify escapes them', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(canonicalJson(text)).toBe(JSON.stringify(text))
    }),
  )
  expect(canonicalJson(['a\ud800', '"\\\n'])).toBe(String.raw`["a\ud800","\"\\\n"]`)
})

test('a member that is undefined is left out', () => {
  expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}')
  expect(canonicalJson({ a: undefined })).toBe('{}')
})

test('__proto__ and constructor are keys like any other', () => {
  const text = '{"__proto__":{"admin":true},"constructor":1}'
  expect(canonicalJson(JSON.parse(text))).toBe(text)
})

test('values nested deeper than the call stack are written', () => {
  const arrays = '['.repeat(DEPTH) + ']'.repeat(DEPTH)
  const objects = '{"a":1,"b":'.repeat(DEPTH) + '"é"' + '}'.repeat(DEPTH)
  const shuffled = '{"b":'.repeat(DEPTH) + '"é"' + ',"a":1}'.repeat(DEPTH)
  expect(canonicalJson(JSON.parse(arrays)) === arrays).toBe(true)
  expect(canonicalJson(JSON.parse(shuffled)) === objects).toBe(true)
})

test('the order of keys makes no difference', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.infiniteStream(fc.nat()), (value, random) => {
      expect(canonicalJson(JSON.parse(shuffledText(value, random)))).toBe(canonicalJson(value))
    }),
  )
})

test('the text parses to the value it was made from, also below the depth where recursion ends', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const deep = '['.repeat(600) + JSON.stringify(value) + ']'.repeat(600)
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(JSON.parse(deep)).replaceAll(/^\[{600}|\]{600}$/g, '')).toBe(canonicalJson(value))
    }),
  )
})

function shuffledText(value: unknown, random: Iterator<number>): string {
  if (Array.isArray(value)) return `[${value.map((item) => shuffledText(item, random)).join(' , ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, item]) => ({
    rank: Number(random.next().value),
    text: `${JSON.stringify(key)} : ${shuffledText(item, random)}`,
  }))
  return `{${members
    .toSorted((a, b) => a.rank - b.rank)
    .map((one) => one.text)
    .join(',\n')}}`
}

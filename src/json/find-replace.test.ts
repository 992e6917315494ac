import fc from 'fast-check'
import { expect, test } from 'vitest'
import { itemRanges, memberRanges, findRange, replaceValue, decodeLeaf, jsonLeaves } from './find-replace.ts'
import { formatPath } from './path.ts'
import type { JsonRange } from './scan.ts'

const sliceOf = (text: string, range: JsonRange | undefined): string | undefined =>
  range && text.slice(range.start, range.end)

test('values keep the bytes they were written with', () => {
  const text =
    ' { "a" : 1.0e+5 ,"b":12345678901234567890,"c":"\\u00e9\\"}","d":[ 1 , {} ],"e":true , "f": null } '
  expect([...memberRanges(text)].map(([key, range]) => [key, sliceOf(text, range)])).toEqual([
    ['a', '1.0e+5'],
    ['b', '12345678901234567890'],
    ['c', '"\\u00e9\\"}"'],
    ['d', '[ 1 , {} ]'],
    ['e', 'true'],
    ['f', 'null'],
  ])
})

test('escaped keys are decoded, and of two members with one name the last counts', () => {
  const text = '{"\\u0061":1,"a":2,"__proto__":3,"\\\\":4}'
  expect([...memberRanges(text)].map(([key, range]) => [key, sliceOf(text, range)])).toEqual([
    ['a', '2'],
    ['__proto__', '3'],
    ['\\', '4'],
  ])
})

test('the items of an array are found in order, whatever the spacing', () => {
  const text = '\t[ 1,"a]",[2,[3]] , {"b":[]},\r\n-0.5e-3 ]\n'
  expect(itemRanges(text).map((range) => sliceOf(text, range))).toEqual([
    '1',
    '"a]"',
    '[2,[3]]',
    '{"b":[]}',
    '-0.5e-3',
  ])
  expect(itemRanges('[ ]')).toEqual([])
  expect([...memberRanges('{ }')]).toEqual([])
})

test('a replacement changes nothing but its value', () => {
  const text = '{ "params": {"_meta":{"progressToken": 1.0}, "x":[ 1,2 ]},"id" : 7}'
  expect(replaceValue(text, ['params', '_meta', 'progressToken'], '"live"')).toBe(
    '{ "params": {"_meta":{"progressToken": "live"}, "x":[ 1,2 ]},"id" : 7}',
  )
  expect(replaceValue(text, ['params', 'x', 1], '{}')).toBe(
    '{ "params": {"_meta":{"progressToken": 1.0}, "x":[ 1,{} ]},"id" : 7}',
  )
})

test('a path that leads nowhere leaves the text alone', () => {
  const text = '{"a":[1],"b":"c"}'
  for (const path of [
    ['z'],
    ['a', 'b'],
    ['a', 1],
    ['a', -1],
    [0],
    ['b', 'length'],
    ['b', 0],
    ['a', 0, 'c', 'd'],
  ]) {
    expect(replaceValue(text, path, '0')).toBe(text)
  }
})

test('text nested deeper than the call stack is skipped', () => {
  const deep = '{"a":['.repeat(100_000) + ']}'.repeat(100_000)
  const text = `{"deep":${deep},"id":1}`
  expect(sliceOf(text, findRange(text, ['id']))).toBe('1')
  expect(sliceOf(text, findRange(text, ['deep'])) === deep).toBe(true)
})

test('every value of any document is found where JSON.parse found it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), spacing(), (value, space) => {
      const text = spaced(value, space)
      for (const path of pathsOf(value)) {
        const found = sliceOf(text, findRange(text, path)) ?? ''
        expect(JSON.parse(found)).toEqual(valueAt(JSON.parse(text), path))
        expect(found).toBe(found.trim())
      }
    }),
  )
})

test('replacing a value in the text is the same as setting it', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 5 }),
      fc.jsonValue(),
      spacing(),
      fc.nat(),
      (value, other, space, seed) => {
        const text = spaced(value, space)
        const paths = pathsOf(value)
        const path = paths[seed % paths.length] ?? []
        const replaced = replaceValue(text, path, JSON.stringify(other))
        expect(valueAt(JSON.parse(replaced), path)).toEqual(JSON.parse(JSON.stringify(other)))
        expect(replaceValue(replaced, path, sliceOf(text, findRange(text, path)) ?? '')).toBe(text)
      },
    ),
  )
})

function spacing(): fc.Arbitrary<string> {
  return fc.constantFrom('', ' ', '\n\t', '\r\n  ')
}

function spaced(value: unknown, space: string): string {
  if (Array.isArray(value)) {
    return `${space}[${value.map((item) => spaced(item, space)).join(`${space},`)}${space}]${space}`
  }
  if (typeof value !== 'object' || value === null) return space + JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, item]) => `${space}${JSON.stringify(key)}${space}:${spaced(item, space)}`,
  )
  return `${space}{${members.join(`${space},`)}${space}}${space}`
}

type Path = readonly (string | number)[]

function pathsOf(value: unknown): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [[]]
  const children: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return [[], ...children.flatMap(([step, child]) => pathsOf(child).map((path) => [step, ...path]))]
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) => Object.entries(Object(at)).find(([key]) => key === String(step))?.[1],
    value,
  )
}

test.each(['{"jsonrpc":"2.0","id":', '{"a":"x', '{"a":{"b":[1,', '{"a', '['])(
  'a search in the cut-off text %s comes to an end',
  (text) => {
    expect(findRange(text, ['id'])?.end ?? 0).toBeLessThanOrEqual(text.length)
    expect(memberRanges(text).size).toBeLessThanOrEqual(1 + text.length)
  },
)

test('every string, number and literal is returned with its path, as it is spelled', () => {
  const text = '{ "a": [1.0, {"b\\u0063": "x\\n"}], "": null, "e": [], "t": true, "n": -12e3 }'
  const leaves = jsonLeaves(text).map(
    (leaf) => `${formatPath(leaf.path)} ${JSON.stringify(decodeLeaf(text, leaf))}`,
  )
  expect(leaves).toEqual(['a[0] "1.0"', 'a[1].bc "x\\n"', '[""] "null"', 't "true"', 'n "-12e3"'])
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

import { expect, test } from 'vitest'
import { formatPath, parsePath } from '../json/path.ts'
import { createDiffer, diffJson, type DiffOptions } from './diff.ts'

function differences(expected: unknown, actual: unknown, options?: DiffOptions): readonly string[] {
  return createDiffer(options)
    .texts(JSON.stringify(expected), JSON.stringify(actual))
    .map(
      ({ path, kind, expected: one, actual: other }) =>
        `${kind} ${formatPath(path)} ${JSON.stringify({ expected: one, actual: other })}`,
    )
}

const paths = (...texts: readonly string[]): ReturnType<typeof parsePath>[] => texts.map(parsePath)

function block(value: unknown, space?: number): unknown {
  return { content: [{ type: 'text', text: JSON.stringify(value, null, space) }] }
}

const rows = (first: number): unknown => ['a', 'b', 'c'].map((v, n) => ({ id: first + n, v, w: v }))

const nested = (leaf: string): string => `${'['.repeat(100_000)}${leaf}${']'.repeat(100_000)}`

test('equal texts and texts with the same meaning have no differences', () => {
  expect(diffJson('{"a":1}', '{"a":1}')).toEqual([])
  expect(diffJson('{"a":1,"b":[true]}', '{ "b": [true], "a": 1.0 }')).toEqual([])
})

test('additions, removals, changes and changes of type are reported with path and both sides', () => {
  const expected = { kept: 1, gone: 'x', value: 1, type: 1, list: [{ id: 1, a: 1 }] }
  const actual = { kept: 1, fresh: null, value: 2, type: '1', list: [{ id: 1, a: 2 }] }
  expect(differences(expected, actual)).toEqual([
    'removed gone {"expected":"x"}',
    'changed value {"expected":1,"actual":2}',
    'type type {"expected":1,"actual":"1"}',
    'changed list[0].a {"expected":1,"actual":2}',
    'added fresh {"actual":null}',
  ])
})

test('items are identified by their id, so a new first item is one addition', () => {
  const expected = [
    { id: 'a', n: 1 },
    { id: 'b', n: 2 },
    { id: 'c', n: 3 },
  ]
  const actual = [{ id: 'z', n: 0 }, ...expected.map((item) => (item.id === 'b' ? { ...item, n: 9 } : item))]
  expect(differences(expected, actual)).toEqual([
    'changed [1].n {"expected":2,"actual":9}',
    'added [0] {"actual":{"id":"z","n":0}}',
  ])
})

test('a changed id is a difference', () => {
  const expected = [{ id: 'a' }, { id: 'b' }, { id: 'c' }].map((item) => ({ ...item, of: 'us' }))
  const actual = expected.map((item) => (item.id === 'b' ? { ...item, id: 'x' } : item))
  expect(differences(expected, actual)).toEqual(['changed [1].id {"expected":"b","actual":"x"}'])
})

test('if most ids changed, items are not paired by id, and each id is reported', () => {
  expect(differences(rows(1), rows(3))).toEqual([
    'changed [0].id {"expected":1,"actual":3}',
    'changed [1].id {"expected":2,"actual":4}',
    'changed [2].id {"expected":3,"actual":5}',
  ])
})

test('items without an id are identified by their content', () => {
  expect(differences(['a', 'b', 'c'], ['x', 'a', 'b', 'c'])).toEqual(['added [0] {"actual":"x"}'])
  expect(differences([[1, 2], [3]], [[3], [1, 2], [4]])).toEqual(['added [2] {"actual":[4]}'])
})

test('a moved item is a difference only if the order counts', () => {
  const [expected, actual] = [{ list: ['one', 'two', 'three'] }, { list: ['three', 'one', 'two'] }]
  expect(differences(expected, actual)).toEqual([])
  expect(differences(expected, actual, { ordered: paths('list') })).toEqual([
    'removed list[2] {"expected":"three"}',
    'added list[0] {"actual":"three"}',
  ])
  expect(differences(expected, actual, { order: 'kept', unordered: paths('list') })).toEqual([])
})

test('every list in another order is a difference of its own, beside other differences', () => {
  const items = [1, 2, 3].map((n) => ({ v: `item ${n}`, n, tags: ['x', 'y'] }))
  const expected = { at: 1, list: ['a', 'b', 'c'], items, text: JSON.stringify(['a', 'b']) }
  const actual = {
    at: 2,
    list: ['c', 'b', 'a'],
    items: items.toReversed().map((item) => ({ ...item, n: 9 })),
    text: JSON.stringify(['b', 'a']),
  }
  const found = createDiffer({ order: 'reported' }).values(expected, actual)
  expect(found.map(({ kind, path }) => `${kind} ${formatPath(path)}`)).toEqual([
    'changed at',
    'order list',
    'order items',
    'changed items[0].n',
    'changed items[1].n',
    'changed items[2].n',
    'order text',
  ])
})

test('JSON inside a string is compared as JSON, and paths continue into it', () => {
  expect(differences(block({ a: 1, b: 2 }), block({ b: 2, a: 1 }, 2))).toEqual([])
  expect(differences(block({ a: { id: 1 } }), block({ a: { id: 2 } }))).toEqual([
    'changed content[0].text.a.id {"expected":1,"actual":2}',
  ])
  expect(
    differences(block({ a: { id: 1 } }), block({ a: { id: 2 } }), { ignore: paths('content[*].text.a.id') }),
  ).toEqual([])
})

test('ignored paths are left out, for one item or for every item', () => {
  const expected = {
    at: 1,
    rows: [
      { at: 1, v: 1 },
      { at: 2, v: 2 },
    ],
    gone: 1,
  }
  const actual = {
    at: 2,
    rows: [
      { at: 9, v: 1 },
      { at: 9, v: 3 },
    ],
    fresh: 1,
  }
  const options = { ignore: paths('at', 'rows[*].at', 'gone', 'fresh') }
  expect(differences(expected, actual, options)).toEqual(['changed rows[1].v {"expected":2,"actual":3}'])
  const both = { ignore: paths('[0].a', '[*].b') }
  expect(differences([{ a: 1, b: 1 }], [{ a: 2, b: 2 }], both)).toEqual([])
  expect(differences([1, 2], [3, 4], { ignore: paths('[0]') })).toEqual([
    'changed [1] {"expected":2,"actual":4}',
  ])
})

test('numbers may differ within the tolerance', () => {
  const [expected, actual] = [
    { a: 100, b: 100 },
    { a: 104, b: 104 },
  ]
  expect(differences(expected, actual, { tolerance: 0.05 })).toEqual([])
  expect(differences(expected, actual, { tolerances: [{ path: parsePath('a'), relative: 0.05 }] })).toEqual([
    'changed b {"expected":100,"actual":104}',
  ])
})

test('mode structural compares only types and members', () => {
  const expected = { id: 1, tags: ['a'], owner: { name: 'x' }, none: [] }
  expect(
    differences(
      expected,
      { id: 9, tags: ['z', 'y'], owner: { name: '' }, none: [1] },
      { mode: 'structural' },
    ),
  ).toEqual([])
  expect(differences(expected, { id: '1', tags: [1], owner: {}, none: [] }, { mode: 'structural' })).toEqual([
    'type id {"expected":1,"actual":"1"}',
    'type tags[0] {"expected":"a","actual":1}',
    'removed owner.name {"expected":"x"}',
  ])
})

test('mode structural compares each item with the item at the same index', () => {
  expect(differences(['a', 1], ['b', 2, 3], { mode: 'structural' })).toEqual([])
})

test('mode partial allows additions, and compares only required paths if there are any', () => {
  const expected = { a: 1, b: { c: 1 } }
  expect(differences(expected, { a: 1, b: { c: 1, d: 2 }, e: 3 }, { mode: 'partial' })).toEqual([])
  expect(differences(expected, { a: 2 }, { mode: 'partial', required: paths('b.c') })).toEqual([
    'removed b {"expected":{"c":1}}',
  ])
})

test('numbers beyond 2^53 are compared by their spelling', () => {
  const [one, other] = ['{"id":9007199254740993}', '{"id":9007199254740992}']
  expect(diffJson(one, other).map(({ kind }) => kind)).toEqual(['changed'])
  expect(diffJson(one, ` ${one}`)).toEqual([])
  expect(diffJson('[1e400]', '[1e401]')).toHaveLength(1)
})

test('__proto__ and constructor are ordinary names', () => {
  expect(diffJson('{"__proto__":1}', '{"__proto__":2}')).toMatchObject([
    { path: ['__proto__'], kind: 'changed' },
  ])
  expect(diffJson('{}', '{"__proto__":{"a":1},"constructor":1}')).toMatchObject([
    { path: ['__proto__'], kind: 'added' },
    { path: ['constructor'], kind: 'added' },
  ])
  expect(diffJson('{"__proto__":{},"toString":1}', '{}')).toMatchObject([
    { path: ['__proto__'], kind: 'removed' },
    { path: ['toString'], kind: 'removed' },
  ])
})

test('very deeply nested values are compared without exhausting the stack', () => {
  expect(diffJson(nested('1'), nested('2'))).toHaveLength(1)
  expect(diffJson(nested('1'), `${nested('1')} `)).toEqual([])
  expect(diffJson(nested('1'), nested('2'), { mode: 'structural' })).toEqual([])
})

test('texts that are not JSON are compared as strings', () => {
  expect(diffJson('plain', 'words')).toMatchObject([
    { path: [], kind: 'changed', expected: 'plain', actual: 'words' },
  ])
})

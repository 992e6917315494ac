import { expect, test } from 'vitest'
import { compareSchemas, type SchemaVerdict } from './compatibility.ts'

/** Schemas come from strangers: every comparison ends, and what cannot be decided is unknown. */

function nested(depth: number): unknown {
  let schema: unknown = { type: 'string' }
  for (let level = 0; level < depth; level++) schema = { type: 'object', properties: { a: schema } }
  return schema
}

function kindOf(before: unknown, after: unknown): SchemaVerdict['kind'] {
  return compareSchemas(before, after).kind
}

test('references that lead to themselves, nowhere or to another document are unknown, and nothing is fetched', () => {
  const old = { type: 'object', properties: { a: { type: 'string' } } }
  expect(kindOf(old, { $ref: '#' })).toBe('unknown')
  expect(
    kindOf(old, { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }),
  ).toBe('unknown')
  expect(kindOf(old, { allOf: [{ $ref: 'http://127.0.0.1:9/schema.json' }] })).toBe('unknown')
  expect(kindOf(old, { properties: { a: { $ref: '#/$defs/none' } } })).toBe('unknown')
})

test('what excludes values by a format or a keyword that is not known excludes none for certain', () => {
  const values = { enum: ['a', 'b'] }
  expect(kindOf({ ...values, not: { format: 'luhn' } }, { enum: ['a'] })).toBe('unknown')
  expect(kindOf({ ...values, not: { 'x-rule': 1 } }, { enum: ['a'] })).toBe('unknown')
  expect(kindOf({ type: 'string', not: { format: 'luhn' } }, { type: 'string', minLength: 1 })).toBe(
    'unknown',
  )
})

const withLimit = (minLength: number): unknown => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  definitions: { s: { type: 'string' } },
  properties: { p: { $ref: '#/definitions/s', minLength } },
})

test('what is beside a reference in an older draft counts for some programs only', () => {
  expect(kindOf(withLimit(3), withLimit(5))).toBe('unknown')
  expect(kindOf(withLimit(3), { properties: { p: { type: 'number' } } })).toBe('breaking')
})

test('a pattern that could take forever is not tried', () => {
  const long = 'a'.repeat(5_000)
  const slow = { type: 'string', pattern: '^(a+)+$', minLength: 40 }
  expect(kindOf({ enum: [`${long}!`] }, slow)).toBe('unknown')
  expect(kindOf(slow, { type: 'string', pattern: '^(?=a)(a|a)*$' })).toBe('unknown')
  expect(kindOf(slow, { type: 'string', pattern: '^(a|a)*$' })).toBe('safe')
  expect(kindOf({ type: 'string' }, { type: 'string', pattern: '^(\\w+\\s?)*$', maxLength: 3 })).toBe(
    'breaking',
  )
})

test('long lists of values are compared', () => {
  const values = Array.from({ length: 5_000 }, (_, at) => `value ${at}`)
  expect(kindOf({ enum: values }, { enum: [...values, 'one more'] })).toBe('safe')
  expect(['breaking', 'unknown']).toContain(kindOf({ enum: values }, { enum: values.slice(1) }))
})

const wide = (type: string): unknown => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, { type }])),
  additionalProperties: false,
})
const branching = (leaf: string): unknown => ({
  $ref: '#/$defs/n',
  $defs: {
    n: {
      anyOf: [
        { type: leaf },
        ...Array.from({ length: 6 }, () => ({ type: 'array', items: { $ref: '#/$defs/n' } })),
      ],
    },
  },
})

test('schemas that are nested deeply, wide or recursive end', () => {
  expect(kindOf(nested(30), nested(31))).not.toBe('safe')
  expect(kindOf(nested(5_000), nested(5_001))).toBe('unknown')
  expect(kindOf(wide('integer'), wide('number'))).toBe('safe')
  expect(kindOf(branching('integer'), branching('number'))).not.toBe('breaking')
  expect(kindOf(branching('number'), branching('integer'))).not.toBe('safe')
})

test('names of members that objects inherit are members like others', () => {
  const open = { type: 'object', properties: { constructor: { type: 'string' } } }
  expect(kindOf(open, { ...open, required: ['constructor'] })).toBe('breaking')
  expect(kindOf({ ...open, required: ['__proto__'] }, open)).toBe('safe')
})

test('the witness of a break is as small as it can be', () => {
  const verdict = compareSchemas(
    {
      type: 'object',
      properties: {
        q: { type: 'string' },
        n: { type: 'integer' },
        t: { type: 'array', items: { type: 'string' } },
      },
      required: ['q'],
    },
    {
      type: 'object',
      properties: {
        q: { type: 'string' },
        n: { type: 'integer' },
        t: { type: 'array', items: { type: 'string' }, maxItems: 2 },
      },
      required: ['q'],
    },
  )
  expect(verdict).toMatchObject({ kind: 'breaking', witnesses: [{ value: { q: '', t: ['', '', ''] } }] })
})

import { expect, test } from 'vitest'
import { spared, valueOf } from './spared.ts'

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000)

test('what can be written stays a value', () => {
  expect(valueOf('{"a":[1,{"b":null}]}')).toEqual({ a: [1, { b: null }] })
  expect(spared({ a: [] })).toEqual({ a: [] })
  expect([valueOf('oops'), valueOf(undefined), spared(undefined)]).toEqual(['oops', null, undefined])
})

test('what is nested deeper than any stack is given as its text', () => {
  expect(valueOf(DEEP) === DEEP).toBe(true)
  expect(spared(JSON.parse(DEEP)) === DEEP).toBe(true)
})

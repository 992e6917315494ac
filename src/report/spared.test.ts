import { expect, test } from 'vitest'
import { toSerializable, parseOrKeepText } from './spared.ts'

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000)

test('what can be written stays a value', () => {
  expect(parseOrKeepText('{"a":[1,{"b":null}]}')).toEqual({ a: [1, { b: null }] })
  expect(toSerializable({ a: [] })).toEqual({ a: [] })
  expect([parseOrKeepText('oops'), parseOrKeepText(undefined), toSerializable(undefined)]).toEqual([
    'oops',
    null,
    undefined,
  ])
})

test('what is nested deeper than any stack is given as its text', () => {
  expect(parseOrKeepText(DEEP) === DEEP).toBe(true)
  expect(toSerializable(JSON.parse(DEEP)) === DEEP).toBe(true)
})

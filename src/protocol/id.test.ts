import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findKnownId, findNumericId, numericIdOfResult } from './id.ts'
import { findRange } from '../json/find.ts'
import { cases } from '../../test/support/cases.ts'

const id = fc.oneof(fc.nat(), fc.constantFrom(0, '0', 'a', '1', '"', ',"id":1}'))
const members = fc.uniqueArray(fc.constantFrom('jsonrpc', 'id', 'result', 'method', 'x"id'), { minLength: 1 })
const inner = fc.constantFrom<unknown>({}, { id: 7 }, [{ id: 1 }], ',"id":3}', 5, '2.0')

/** A message with its members in any order, and with `id` in places where it means nothing. */
const message = fc.tuple(id, members, inner).map(([own, names, value]) => {
  const written = names.map((name) => [name, name === 'id' ? own : name === 'jsonrpc' ? '2.0' : value])
  return { own, text: JSON.stringify(Object.fromEntries(written)) }
})

test('an id that is found at the edge of a message is the id of the message', () => {
  fc.assert(
    fc.property(message, ({ own, text }) => {
      expect([undefined, findRange(text, ['id'])]).toContainEqual(findKnownId(text, own))
    }),
    cases(1000),
  )
})

test('a number that is found at the edge of a message is the id of the message', () => {
  fc.assert(
    fc.property(message, ({ text }) => {
      expect([undefined, findRange(text, ['id'])]).toContainEqual(findNumericId(text))
    }),
    cases(1000),
  )
})

test('of two members with one name the last counts, so that a first id alone proves nothing', () => {
  expect(findKnownId('{"jsonrpc":"2.0","id":1,"method":"a","id":2}', 1)).toBeUndefined()
})

test('ids are found where clients and servers write them', () => {
  expect(findKnownId('{"method":"a","jsonrpc":"2.0","id":12}', 12)).toEqual({ start: 35, end: 37 })
  expect(findKnownId('{"jsonrpc":"2.0","id":"x","method":"a"}', 'x')).toEqual({ start: 22, end: 25 })
  expect(numericIdOfResult('{"result":{},"jsonrpc":"2.0","id":12}')).toBe(12)
  expect(numericIdOfResult('{"jsonrpc":"2.0","id":12,"result":{}}')).toBe(12)
})

test('a request of the server is no answer, whatever its id', () => {
  expect(numericIdOfResult('{"method":"ping","jsonrpc":"2.0","id":12}')).toBeUndefined()
  expect(numericIdOfResult('{"jsonrpc":"2.0","id":12,"method":"ping"}')).toBeUndefined()
})

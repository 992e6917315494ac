import { expect, test } from 'vitest'
import { playingWith, type Run } from '../../test/support/session-player.ts'
import { call, callOf, type Said } from '../../test/support/tape-of.ts'
import { parseOverrides, type Override } from './overrides.ts'

const SESSION: readonly Said[] = [
  ...call(1, 'search', { q: 'a', limit: 5 }, 'A'),
  ...call(2, 'search', { q: 'b', limit: 5 }, 'B'),
]
const A = callOf('a', 'search', { q: 'a', limit: 5 })
const B = callOf('b', 'search', { q: 'b', limit: 5 })

test('an override answers first, and the recorded turn counts as asked for', () => {
  const run = overridden({
    tool: 'search',
    params: { arguments: { q: 'a' } },
    result: { content: [], mine: 1 },
  })
  run.say(A, B)
  expect(run.out[0]).toBe('{"jsonrpc":"2.0","id":"a","result":{"content":[],"mine":1}}')
  expect(run.heard()[1]).toBe('answer "b": B')
  expect(run.player.drift()).toEqual({ answered: 2, leftOver: [], misses: [], notes: [] })
})

test('an override may inject an error, also for what was never recorded', () => {
  const run = overridden({ method: 'resources/read', error: { code: -32603, message: 'disk on fire' } })
  run.say({ id: 1, method: 'resources/read', params: { uri: 'file:///never' } })
  expect(run.out).toEqual(['{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"disk on fire"}}'])
  expect(run.player.drift().misses).toEqual([])
})

test('an override may set values in the recorded answer, also ones that were not there', () => {
  const set = { 'result.content[0].text': 'changed', 'result._meta.by': 'test' }
  const run = overridden({ tool: 'search', set })
  run.sayText(
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"name":"search","arguments":{"q":"a","limit":5}}}',
  )
  expect(run.out).toEqual([
    '{"jsonrpc":"2.0","id":12345678901234567890,"result":{"content":[{"type":"text","text":"changed"}],"_meta":{"by":"test"}}}',
  ])
})

test('an override may be a function; what it throws is an error of the server', () => {
  const run = overridden({
    tool: 'search',
    answer: ({ params }) => {
      if (JSON.stringify(params).includes('"b"')) throw new Error('no b today')
      return { echo: params }
    },
  })
  run.say(A, B)
  expect(run.out.map((text) => JSON.parse(text))).toMatchObject([
    { id: 'a', result: { echo: { name: 'search' } } },
    { id: 'b', error: { code: -32603, message: 'no b today' } },
  ])
})

test('a request that no override is meant for gets its recorded answer', () => {
  const run = overridden(
    { tool: 'other', result: 1 },
    { params: { arguments: { q: 'a', limit: 6 } }, result: 2 },
  )
  run.say(A)
  expect(run.heard()).toEqual(['answer "a": A'])
})

test.each([
  [{ tool: 'x' }, 'overrides[0]: an override needs exactly one of result, error and set'],
  [
    { result: 1, error: { code: 1, message: '' } },
    'overrides[0]: an override needs exactly one of result, error and set',
  ],
  [{ error: 'no' }, 'overrides[0]: "error" is not a JSON-RPC error'],
  [{ set: { 'params.x': 1 } }, 'overrides[0]: params.x is not a path in a response'],
  [{ set: 1 }, 'overrides[0]: "set" is not an object'],
  [{ answer: 'x' }, 'overrides[0]: "answer" is not a function'],
  [{ reslt: 1 }, 'overrides[0]: unknown key "reslt"'],
])('an invalid override is refused with its location: %j', (override, message) => {
  expect(() => parseOverrides({ overrides: [override] })).toThrow(message)
})

function overridden(...overrides: readonly Override[]): Run {
  return playingWith({ overrides }, ...SESSION)
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { META_KEYS } from '../protocol/message.ts'
import { parseRequestPath, requestKey } from './request-key.ts'

test('the order of keys never matters, at any depth', () => {
  expect(keyOf({ a: 1, b: { c: [{ x: 1, y: 2 }], d: 3 } })).toBe(
    keyOf({ b: { d: 3, c: [{ y: 2, x: 1 }] }, a: 1 }),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (params) => {
      expect(keyOf(Object.fromEntries(Object.entries(params).toReversed()))).toBe(keyOf(params))
    }),
  )
})

test('requests with another server, method or param have another key', () => {
  const keys = [
    requestKey({ server: 'a', method: 'tools/list' }),
    requestKey({ server: 'b', method: 'tools/list' }),
    requestKey({ server: 'a', method: 'prompts/list' }),
    requestKey({ server: 'a', method: 'tools/list', params: { cursor: '' } }),
    requestKey({ server: 'a', method: 'tools/list', params: { cursor: 'x' } }),
    keyOf({ name: 'x', requestState: 's' }),
    keyOf({ name: 'x', inputResponses: {} }),
    keyOf({ uri: 'file:///größe' }),
    keyOf({ uri: 'file:///gr%C3%B6%C3%9Fe' }),
    keyOf({ n: 1 }),
    keyOf({ n: '1' }),
    keyOf({ list: [1, 2] }),
    keyOf({ list: [2, 1] }),
    keyOf({ x: null }),
    keyOf({ arguments: [] }),
    keyOf({ arguments: { x: null } }),
    keyOf({ task: {} }),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})

test("the key ignores the protocol's own members of _meta, and includes those of the user", () => {
  const protocol = {
    progressToken: 7,
    [META_KEYS.clientInfo]: { name: 'c', version: '1' },
    'io.modelcontextprotocol/anything-new': 1,
    traceparent: '00-1',
    tracestate: 'x',
    baggage: 'y',
  }
  expect(keyOf({ name: 'x', _meta: protocol })).toBe(keyOf({ name: 'x' }))
  expect(keyOf({ name: 'x', _meta: { ...protocol, 'example.com/tenant': 1 } })).toBe(
    keyOf({ name: 'x', _meta: { 'example.com/tenant': 1 } }),
  )
  expect(keyOf({ name: 'x', _meta: { 'example.com/tenant': 1 } })).not.toBe(keyOf({ name: 'x' }))
  expect(keyOf({ name: 'x', _meta: 'odd' })).not.toBe(keyOf({ name: 'x' }))
})

test('empty params, and params with only an empty _meta, are equal to no params', () => {
  expect(keyOf({})).toBe(keyOf(undefined))
  expect(keyOf({ _meta: {} })).toBe(keyOf(undefined))
  expect(keyOf({ _meta: { progressToken: 1 } })).toBe(keyOf(undefined))
  expect(keyOf({ cursor: 'a' }, ['params.cursor'])).toBe(keyOf(undefined))
})

test.each<[string, object | undefined, ...(object | null)[]]>([
  ['tools/call', { name: 'x' }, { arguments: {} }, { arguments: null }, { _meta: null }, { task: null }],
  ['tools/call', { name: 'x', requestState: 's' }, { inputResponses: {} }, { inputResponses: null }],
  ['prompts/get', { name: 'x' }, { arguments: {} }, { arguments: null }, { requestState: null }],
  ['tools/list', undefined, null, {}, { cursor: null }, { _meta: {}, cursor: null }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'p' } },
    { context: null },
    { context: {} },
    { context: { arguments: {} } },
  ],
])('%s: a param that is empty is equal to one that is left out', (method, params, ...others) => {
  const key = requestKey({ server: 's', method, params })
  for (const other of others) {
    const sent = params === undefined ? other : { ...params, ...other }
    expect(requestKey({ server: 's', method, params: sent })).toBe(key)
  }
})

test('the handshake is matched by its method alone', () => {
  for (const method of ['initialize', 'server/discover']) {
    const params = {
      clientInfo: { name: 'me' },
      _meta: { [META_KEYS.protocolVersion]: '2026-07-28', mine: 1 },
    }
    expect(requestKey({ server: 's', method, params })).toBe(requestKey({ server: 's', method }))
  }
})

test('a modern request is not equal to a legacy request with the same content', () => {
  expect(keyOf({ _meta: { [META_KEYS.protocolVersion]: '2026-07-28' } })).not.toBe(keyOf({}))
})

test('the value at an ignored path is not compared', () => {
  const ignore = ['params.arguments.limit', 'params.arguments.items[*].id', 'params._meta.mine']
  expect(
    keyOf({ arguments: { q: 'a', limit: 1, items: [{ id: 1, n: 1 }] }, _meta: { mine: 1 } }, ignore),
  ).toBe(keyOf({ arguments: { q: 'a', limit: 2, items: [{ id: 2, n: 1 }] } }, ignore))
  expect(keyOf({ anything: 1 }, ['params'])).toBe(keyOf(undefined, ['params']))
})

test('an ignored path that cannot match anything is rejected', () => {
  expect(() => parseRequestPath('arguments.limit')).toThrow(
    expect.objectContaining({
      code: 'PATH_INVALID',
      message: 'the path "arguments.limit" does not start with "params"',
      hint: expect.stringContaining('params.arguments.limit'),
    }),
  )
})

function keyOf(params: unknown, ignore: readonly string[] = []): string {
  return requestKey({ server: 's', method: 'tools/call', params }, ignore.map(parseRequestPath))
}

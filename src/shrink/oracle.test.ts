import { expect, test } from 'vitest'
import { parseOracle } from './oracle.ts'
import { isSameFailure, type ObservedCall } from './watch.ts'

function call(message: object, more: Partial<ObservedCall> = {}): ObservedCall {
  return {
    name: 'tools/call get',
    link: '1',
    notifications: undefined,
    exchange: 1,
    method: 'tools/call',
    request: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{}}}',
    response: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    state: 'done',
    why: undefined,
    duration: 5,
    findings: [],
    ...more,
  }
}

const toolError = (text: string): ObservedCall =>
  call({ result: { isError: true, content: [{ type: 'text', text }] } })

test('the same failure has other ids and numbers in every run, and another failure other words', () => {
  const oracle = parseOracle('is-error')
  const [one, same, other] = [
    'order 6f1a "milk" is corrupt (row 12)',
    'order 77c2 "bread" is corrupt (row 3)',
    'there is no order 6f1a',
  ].map((text) => oracle.watch({ known: [] }).failureOf(toolError(text)))
  if (one === undefined || same === undefined || other === undefined) throw new Error('a failure is missing')
  expect(one.call).toBe('tools/call get')
  expect(isSameFailure(one, same)).toBe(true)
  expect(isSameFailure(one, other)).toBe(false)
})

const differing = (actual: unknown): ObservedCall =>
  call(
    { result: {} },
    { findings: [{ layer: 'values', level: 'error', message: 'changed', path: 'result.total', actual }] },
  )

test('a difference with another value is another failure, unless the value varies', () => {
  const [one, same, other] = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: 0, b: 2 },
  ].map((actual) => parseOracle('difference').watch({ known: [] }).failureOf(differing(actual)))
  if (one === undefined || same === undefined || other === undefined) throw new Error('a failure is missing')
  expect(isSameFailure(one, same)).toBe(true)
  expect(isSameFailure(one, other)).toBe(false)
  expect(isSameFailure({ ...one, value: undefined }, other)).toBe(true)
})

test.each<[string, ObservedCall, string | undefined]>([
  ['is-error', call({ result: { content: [] } }), undefined],
  ['error', call({ error: { code: -32603, message: 'boom 17' } }), 'error -32603: boom #'],
  ['error', toolError('no'), undefined],
  [
    'crash',
    call({}, { state: 'lost', response: undefined, why: 'the server ended with exit code 7' }),
    'crash: the server ended with exit code #',
  ],
  ['hang', call({}, { state: 'timeout', response: undefined, why: 'no answer within 100 ms' }), 'hang'],
  ['secret', call({ result: { token: 'ghp_0123456789abcdefghijABCDEFGHIJ012345' } }), 'secret'],
  ['secret', call({ result: { text: 'nothing to hide' } }), undefined],
  ['result.total > 100', call({ result: { total: 101 } }), 'result.total > 100'],
  ['result.total > 100', call({ result: { total: 99 } }), undefined],
  ['status:error tool:get', call({ error: { code: 1, message: '' } }), 'status:error tool:get'],
  [
    'difference',
    call(
      { result: {} },
      { findings: [{ layer: 'values', level: 'error', message: 'differs', path: 'result.rows[7].id' }] },
    ),
    'values result.rows[0].id',
  ],
  [
    'schema',
    call({ result: {} }, { findings: [{ layer: 'values', level: 'error', message: 'differs' }] }),
    undefined,
  ],
])('--fails %s', (text, observed, signature) => {
  expect(parseOracle(text).watch({ known: [] }).failureOf(observed)?.signature).toBe(signature)
})

test('a misspelled condition is named', () => {
  expect(() => parseOracle('is-eror')).toThrow('there is no failure "is-eror"; did you mean is-error?')
  for (const name of ['constructor', '__proto__', 'toString'])
    expect(() => parseOracle(name)).toThrow(`there is no failure "${name}"`)
})

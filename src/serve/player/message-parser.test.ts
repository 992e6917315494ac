import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classifyMessage } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import { MessageParser } from './message-parser.ts'
import { cases } from '../../../test/support/cases.ts'

const id = fc.oneof(
  fc.nat().map(String),
  fc.string().map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '1.0',
    '-1',
    '01',
    '1e3',
    'null',
    '{"id":1}',
    '"a',
    '"\\u0061"',
    '12345678901234567890',
    '',
    'é',
  ),
)
const params = fc.constantFrom(
  '{"name":"a"}',
  '{"name":"a","id":1}',
  '{ "name" : "a" }',
  '{"_meta":{"progressToken":"1"}}',
  '[1]',
  '{"name":"a"',
)
const shape = fc.constantFrom<(id: string, params: string) => string>(
  (i, p) => `{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":${p}}`,
  (i, p) => `{"method":"tools/call","params":${p},"jsonrpc":"2.0","id":${i}}`,
  (i, p) => `{"method":"ping","params":${p},"jsonrpc":"2.0","id":${i}}`,
  (i, p) => `{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":${p},"id":7}`,
  (i, p) => `{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":${p},"id":7,"z":1}`,
  (i, p) => `{"id":7,"method":"tools/call","params":${p},"jsonrpc":"2.0","id":${i}}`,
  (i, p) => `{"jsonrpc":"2.0","method":"notifications/x","params":${p},"other":{"id":${i}}}`,
  (i, p) => `[{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":${p}}]`,
  (i, p) => `{"jsonrpc":"2.0","id":${i},"result":${p}}`,
  (i) => `{"jsonrpc":"2.0","id":${i}`,
)

test('a text is read as JSON.parse reads it, however often something like it was heard before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(shape, id, params), { maxLength: 30 }), (said) => {
      const heard = new MessageParser()
      for (const [write, oneId, oneParams] of said) {
        const text = write(oneId, oneParams)
        const value = parseJson(text)
        expect(heard.parse(text)).toEqual(value === undefined ? undefined : classifyMessage(value))
      }
    }),
    cases(1000),
  )
})

test('a request that was heard before is not parsed again: its params are the same object', () => {
  const heard = new MessageParser()
  const read = (liveId: string): unknown =>
    heard.parse(`{"method":"tools/call","params":{"name":"a"},"jsonrpc":"2.0","id":${liveId}}`)
  const [first, again, named] = [read('1'), read('2'), read('"x"')]
  expect(first).toEqual({ kind: 'request', id: 1, method: 'tools/call', params: { name: 'a' } })
  expect(again).toEqual({ kind: 'request', id: 2, method: 'tools/call', params: { name: 'a' } })
  expect(named).toEqual({ kind: 'request', id: 'x', method: 'tools/call', params: { name: 'a' } })
  expect(Reflect.get(Object(again), 'params')).toBe(Reflect.get(Object(first), 'params'))
})

test('what was heard is forgotten before it fills the memory', () => {
  const heard = new MessageParser()
  const read = (n: number): unknown =>
    heard.parse(`{"method":"m","params":{"n":${n},"pad":"${'x'.repeat(10_000)}"},"jsonrpc":"2.0","id":1}`)
  const first = Reflect.get(Object(read(0)), 'params')
  for (let n = 1; n < 1000; n++) read(n)
  expect(Reflect.get(Object(read(0)), 'params')).not.toBe(first)
})

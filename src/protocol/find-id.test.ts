import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../test/support/cases.ts'
import { findRange } from '../json/find-replace.ts'
import { parseJson } from '../json/parse.ts'
import { findId, findResponseId, guessId, guessResponseId, guessResultId, replaceId } from './find-id.ts'
import { classifyMessage } from './message.ts'

const anyId = fc.oneof(fc.nat(), fc.constantFrom(0, -1, 1.5, '0', 'a', '1', '"', ',"id":1}', 'é', null))
const memberNames = fc.uniqueArray(fc.constantFrom('jsonrpc', 'id', 'result', 'method', 'x"id'), {
  minLength: 1,
})
const inner = fc.constantFrom<unknown>({}, { id: 7 }, [{ id: 1 }], ',"id":3}', 5, '2.0')

/** A message with its members in any order, and with `id` in places where it is not the id of the message. */
const message = fc.tuple(anyId, memberNames, inner, fc.nat(1)).map(([own, names, value, space]) => {
  const written = names.map((name) => [name, name === 'id' ? own : name === 'jsonrpc' ? '2.0' : value])
  return JSON.stringify(Object.fromEntries(written), null, space)
})

test('the id that is found is the id of the message', () => {
  fc.assert(
    fc.property(message, (text) => {
      expect(findId(text)).toEqual(findRange(text, ['id']))
    }),
    cases(1000),
  )
})

test('a guessed id of a message without duplicates is its id', () => {
  fc.assert(
    fc.property(message, (text) => {
      expect([undefined, findRange(text, ['id'])]).toContainEqual(guessId(text))
    }),
    cases(1000),
  )
})

// The text of a message, its id, and the id that is guessed without reading all of it.
test.each<[string, unknown, unknown]>([
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 1, 1],
  ['{"result":{},"jsonrpc":"2.0","id":12}', 12, 12],
  ['{"jsonrpc":"2.0","id":"x","method":"a"}', 'x', 'x'],
  ['{"method":"a","id":"x"}', 'x', 'x'],
  ['{"jsonrpc":"2.0","id":1,"result":{},"a\\"id":5}', 1, 1],
  ['{"jsonrpc":"2.0","id":1,"a\\",\\"id":"5"}', 1, 1],
  ['{"jsonrpc":"2.0","id":1,"result":{},"id":2,"x":3}', 2, 1],
  ['{"jsonrpc":"2.0","id":1,"method":"a","id":2}', 2, 2],
  ['{"jsonrpc":"2.0","id":1234567890123456,"result":{}}', 1234567890123456, undefined],
  ['{"jsonrpc":"2.0","id":-1,"result":{}}', -1, undefined],
  ['{"jsonrpc":"2.0","id":1e2,"result":{}}', 100, undefined],
  ['{"jsonrpc":"2.0","id":"\\u0061","result":{}}', 'a', undefined],
  ['{ "jsonrpc": "2.0", "id": 7 }', 7, undefined],
  ['{"jsonrpc":"2.0","i\\u0064":7}', 7, undefined],
  ['{"jsonrpc":"2.0","method":"a"}', undefined, undefined],
])('the id in %s is %j, the guess %j', (text, own, guess) => {
  const valueAt = (range = { start: 0, end: 0 }): unknown => parseJson(text.slice(range.start, range.end))
  expect(valueAt(findId(text))).toEqual(own)
  expect(valueAt(guessId(text))).toEqual(guess)
})

test('replaceId replaces the id of the message and nothing else', () => {
  expect(replaceId('{"jsonrpc":"2.0","id":1,"result":{},"a\\"id":5}', '99')).toBe(
    '{"jsonrpc":"2.0","id":99,"result":{},"a\\"id":5}',
  )
  expect(replaceId('{"method":"a"}', '99')).toBe('{"method":"a"}')
})

test('the id of a result is guessed, and a request of the server is not a result', () => {
  expect(guessResultId('{"result":{},"jsonrpc":"2.0","id":12}')).toBe(12)
  expect(guessResultId('{"jsonrpc":"2.0","id":12,"result":{}}')).toBe(12)
  expect(guessResultId('{"method":"ping","jsonrpc":"2.0","id":12}')).toBeUndefined()
  expect(guessResultId('{"jsonrpc":"2.0","id":12,"method":"ping"}')).toBeUndefined()
  expect(guessResultId('{"jsonrpc":"2.0","id":"12","result":{}}')).toBeUndefined()
})

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const key = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom('"jsonrpc"', '"id"', '"result"', '"error"', '"method"', '"i\\u0064"'),
  },
  fc.string().map((text) => JSON.stringify(text)),
)
const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('"2.0"', '1', '0', '"a"', '1.0', '-1', 'null', '"\\"}"', '"é"') },
  fc.jsonValue().map((one) => JSON.stringify(one)),
)
const space = fc.constantFrom('', '', '', ' ', '\t')
const memberText = fc
  .tuple(space, key, space, space, value, space)
  .map(([a, name, b, c, one, d]) => `${a}${name}${b}:${c}${one}${d}`)
const object = fc.array(memberText, { maxLength: 6 }).map((members) => `{${members.join(',')}}`)
const response = fc
  .tuple(fc.constantFrom('1', '"x"', '123'), fc.jsonValue(), fc.boolean())
  .map(([id, result, idFirst]) => {
    const named = `"jsonrpc":"2.0","id":${id}`
    const outcome = `"result":${JSON.stringify(result)}`
    return idFirst ? `{${named},${outcome}}` : `{${outcome},${named}}`
  })

test('the id that is found in the bytes of a response is its id', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 1, arbitrary: object }, { weight: 1, arbitrary: response }), (text) => {
      const found = idIn(findResponseId, text)
      fc.pre(found !== undefined)
      expect(classifyMessage(parseJson(text))).toMatchObject({ kind: 'response', id: found })
    }),
    cases(2000),
  )
})

test('the id is found before and after the result of a response', () => {
  fc.assert(
    fc.property(response, (text) => {
      const { id } = Object(JSON.parse(text))
      expect(idIn(findResponseId, text)).toBe(id)
      expect(idIn(guessResponseId, text)).toBe(id)
    }),
  )
})

test('no id is found in a call, a batch, a response with an unusual id, and truncated bytes', () => {
  const texts = [
    '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
    '[{"jsonrpc":"2.0","id":1,"result":{}}]',
    '{"jsonrpc":"2.0","id":null,"error":{}}',
    '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
    '{"jsonrpc":"2.0","id":1,"result":{},"id":2}',
    '{"jsonrpc":"2.0","id":1,"result":{"a":"',
    '{"jsonrpc":"2.0","id":1,"result":{}',
    '{"jsonrpc":"2.0","id":1,"result":{}}}',
    '{"jsonrpc":"1.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","result":{}}',
    '',
  ]
  expect(texts.map((text) => idIn(findResponseId, text))).toEqual(texts.map(() => undefined))
})

/** Adds bytes before and after, as in a line of a tape. */
function idIn(find: typeof findResponseId, text: string): unknown {
  const line = encoder.encode(`"msg":${text}}}"`)
  const end = line.length - 3
  const found = find(line, 6, end)
  return found === undefined ? undefined : parseJson(decoder.decode(line.subarray(found.start, found.end)))
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findResponseIdAtEdges } from './find-id-at-edges.ts'
import { findResponseId } from './find-id-in-bytes.ts'
import { classifyMessage } from './message.ts'
import { parseJson } from '../json/parse.ts'
import { cases } from '../../test/support/cases.ts'

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
const member = fc
  .tuple(space, key, space, space, value, space)
  .map(([a, name, b, c, one, d]) => `${a}${name}${b}:${c}${one}${d}`)
const object = fc.array(member, { maxLength: 6 }).map((members) => `{${members.join(',')}}`)
const answer = fc
  .tuple(fc.constantFrom('1', '"x"', '123'), fc.jsonValue(), fc.boolean())
  .map(([id, result, idFirst]) => {
    const named = `"jsonrpc":"2.0","id":${id}`
    const said = `"result":${JSON.stringify(result)}`
    return idFirst ? `{${named},${said}}` : `{${said},${named}}`
  })

test('what is found to be the id of an answer is its id, as JSON.parse and classify see it', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 1, arbitrary: object }, { weight: 1, arbitrary: answer }), (text) => {
      const found = idIn(findResponseId, text)
      fc.pre(found !== undefined)
      expect(classifyMessage(parseJson(text))).toMatchObject({ kind: 'response', id: found })
    }),
    cases(2000),
  )
})

test('the answers that servers write are known by their bytes, with the id before the result and behind it', () => {
  fc.assert(
    fc.property(answer, (text) => {
      const { id } = Object(JSON.parse(text))
      expect(idIn(findResponseId, text)).toBe(id)
      const isAtEdge = typeof id === 'number' || text.startsWith('{"jsonrpc"')
      expect(idIn(findResponseIdAtEdges, text)).toBe(isAtEdge ? id : undefined)
    }),
  )
})

test('a call, a batch, an odd id and bytes that break off are no plain answers', () => {
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

/** As in a line of a tape: with other bytes before and behind. */
function idIn(find: typeof findResponseId, text: string): unknown {
  const line = encoder.encode(`"msg":${text}}}"`)
  const end = line.length - 3
  const found = find(line, 6, end)
  return found === undefined ? undefined : parseJson(decoder.decode(line.subarray(found.start, found.end)))
}

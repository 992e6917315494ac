import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { requestKey } from '../../match/request-key.ts'
import { isObject, parseJson } from '../../json/parse.ts'
import { toolOrPromptName } from '../../protocol/message.ts'
import { RequestScanner, type RequestKeyHash } from './request-scanner.ts'
import { JsonHasher } from '../../json/hash.ts'
import { cases } from '../../../test/support/cases.ts'

const hash = new JsonHasher()
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('a', 'b', '_meta', '__proto__', '\n"\\'),
)
const scalar = fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constant(null), text)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { weight: 2, arbitrary: scalar },
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 5 }),
  ),
}))
const meta = fc.record(
  {
    progressToken: fc.oneof(fc.nat(), fc.string()),
    'io.modelcontextprotocol/protocolVersion': fc.constant('2026-07-28'),
    traceparent: fc.string(),
    own: fc.nat(2),
  },
  { requiredKeys: [] },
)
const params = fc.oneof(
  fc.dictionary(text, value, { maxKeys: 4 }),
  fc.record({ arguments: value, name: fc.string(), task: value, _meta: meta }, { requiredKeys: [] }),
  fc.dictionary(
    fc.constantFrom(
      'arguments',
      'cursor',
      'task',
      'inputResponses',
      'requestState',
      'context',
      '_meta',
      'name',
    ),
    fc.constantFrom<unknown>(null, {}, { arguments: {} }, 'x'),
  ),
)
const call = fc.record(
  {
    id: fc.oneof(fc.nat(), fc.string()),
    method: fc.constantFrom(
      'tools/call',
      'ping',
      'initialize',
      'tasks/get',
      'notifications/x',
      'completion/complete',
    ),
    params: fc.option(params, { nil: undefined }),
  },
  { requiredKeys: ['id', 'method'] },
)

/** Writes the value with its members in another order, as JSON.stringify does or with everything escaped. */
function respelled(given: unknown, isEscaped: boolean): string {
  if (typeof given === 'string' && isEscaped) return escaped(given)
  if (typeof given !== 'object' || given === null) return JSON.stringify(given) ?? 'null'
  if (Array.isArray(given)) return `[${given.map((item) => respelled(item, isEscaped)).join(',')}]`
  const members = Object.entries(given).filter(([, item]) => item !== undefined)
  return `{${members
    .toReversed()
    .map(([key, item]) => `${respelled(key, isEscaped)}:${respelled(item, isEscaped)}`)
    .join(',')}}`
}

function escaped(given: string): string {
  const units = Array.from({ length: given.length }, (_, at) => given.charCodeAt(at))
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`
}

const calls = new RequestScanner()

interface Read {
  readonly id: unknown
  readonly method: unknown
  readonly found: RequestKeyHash
}

function scanned(request: Buffer): Read | undefined {
  const read = calls.read('a', request, 0, request.length)
  return read && { id: read.message.id, method: read.message.method, found: read.key }
}

/** The result of a parser, or `undefined` if the text is not JSON. */
function parsed(request: Buffer): Read | undefined {
  const object = parseJson(request.toString())
  if (!isObject(object) || typeof object['method'] !== 'string') return undefined
  const { id, method, params: given } = object
  const key = hash.hashCanonical(requestKey({ server: 'a', method, params: given }))
  return {
    id,
    method,
    found: { ...key, sketch: hash.sketch, name: toolOrPromptName({ method, params: given }) },
  }
}

test('hashing a request by its bytes gives the hash of its key, however it is spelled', () => {
  fc.assert(
    fc.property(call, fc.boolean(), (given, isEscaped) => {
      const request = Buffer.from(respelled({ ...given, jsonrpc: '2.0' }, isEscaped))
      expect([undefined, parsed(request)]).toContainEqual(scanned(request))
    }),
    cases(2000),
  )
})

test('bytes that are not JSON are rejected', () => {
  const harm = fc.record({ at: fc.nat(), byte: fc.nat(127) })
  fc.assert(
    fc.property(call, fc.array(harm, { minLength: 1, maxLength: 3 }), (given, harms) => {
      const request = Buffer.from(respelled({ ...given, jsonrpc: '2.0' }, false))
      for (const { at, byte } of harms) request[at % request.length] = byte
      fc.pre(isUtf8(request)) // other lines are never scanned
      expect([undefined, parsed(request)]).toContainEqual(scanned(request))
    }),
    cases(5000),
  )
})

test.each([
  [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","arguments":{"b":[1,-2.5,null],"a":"é\\n"}}}',
  ],
  ['{"method":"tools/call","params":{"_meta":{"progressToken":7},"name":"n"},"jsonrpc":"2.0","id":"x"}'],
  ['{"method":"ping","jsonrpc":"2.0","id":0}'],
  ['{"method":"tools/call","params":{"name":"n","arguments":{}},"jsonrpc":"2.0","id":1}'],
  ['{"method":"tools/list","params":{"cursor":null,"_meta":null},"jsonrpc":"2.0","id":1}'],
  ['{"method":"tools/call","params":{"a\\"_meta":1,"b\\"name":"n"},"jsonrpc":"2.0","id":1}'],
])('a usual request is read without parsing it: %s', (request) => {
  const bytes = Buffer.from(request)
  expect(scanned(bytes)).toEqual(parsed(bytes))
})

test.each([
  ['1.0'],
  ['-0'],
  ['1e2'],
  ['12345678901234567890'],
  ['"\\u0041"'],
  ['"\\/"'],
  ['{"a":1,"a":2}'],
  ['[1, 2]'],
  ['['.repeat(90) + ']'.repeat(90)],
  ['NaN'],
  ['[1,]'],
])('a request that can be spelled in several ways is left to the parser: %s', (spelled) => {
  const bytes = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${spelled}}}`)
  expect(scanned(bytes)).toBeUndefined()
})

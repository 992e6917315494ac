import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { ask, open, post, type Answer } from '../support/http.ts'
import { begin, errorOf, headerOf, jsonOf, messagesOf, read, serving } from './serving.ts'
import { tapeFile } from './tape-file.ts'
import {
  answerOf,
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../support/tape-of.ts'

const TOOLS = [
  { name: 'count', inputSchema: { type: 'object' } },
  {
    name: 'route',
    inputSchema: {
      type: 'object',
      properties: {
        to: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
      },
    },
  },
]

const modern = ({ params, ...message }: Record<string, unknown>, more: object = {}): object => ({
  jsonrpc: '2.0',
  ...message,
  params: { ...(params as object), _meta: { ...ENVELOPE, ...more } },
})
const complete = (id: number | string, text: string): object => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }], resultType: 'complete' },
})
const called = (name: string, args: object, text: string): readonly Said[] => [
  client(modern(callOf(1, name, { ...args }))),
  server(complete(1, text)),
]

const TAPE = tapeOf(
  client(modern({ id: 1, method: 'tools/list' })),
  server({ id: 1, result: { tools: TOOLS, resultType: 'complete' } }),
  ...called('count', {}, 'one'),
  ...called('count', {}, 'two'),
  ...called('route', { to: { region: 'žižkov' } }, 'routed'),
  ...called('größe', {}, 'groß'),
  client(modern({ id: 1, method: 'ping' })),
  server({ id: 1, error: { code: -32601, message: 'Method not found' } }),
)

const HEADERS = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'count' }
const COUNT = modern(callOf(7, 'count', {}))

test('a modern tape is served without sessions: each POST stands for itself, and GET and DELETE are not allowed', async () => {
  const { url, drift } = await serving({ tape: TAPE })
  const first = await ask(url, post(COUNT, HEADERS))
  expect([first.status, jsonOf(first), headerOf(first, 'mcp-session-id')]).toEqual([
    200,
    complete(7, 'one'),
    undefined,
  ])
  const second = await ask(
    url,
    post(COUNT, { ...HEADERS, 'Mcp-Session-Id': 'ignored', Accept: 'application/json' }),
  )
  expect(jsonOf(second)).toEqual(complete(7, 'two'))
  for (const method of ['GET', 'DELETE']) {
    const refused = await ask(url, { method, headers: { Accept: 'text/event-stream' } })
    expect([refused.status, headerOf(refused, 'allow')]).toEqual([405, 'POST'])
  }
  expect(drift()).toMatchObject({ answered: 2, misses: [] })
})

const without = (name: keyof typeof HEADERS): Record<string, string> => {
  const { [name]: _, ...rest } = HEADERS
  return rest
}
const region = (value: string): object => modern(callOf(7, 'route', { to: { region: value } }))
const ROUTE = { ...HEADERS, 'Mcp-Name': 'route' }

test.each<[string, object | string, Record<string, string>, number]>([
  [
    'a version header that differs from the body',
    COUNT,
    { ...HEADERS, 'MCP-Protocol-Version': '2025-11-25' },
    -32020,
  ],
  ['no version header', COUNT, without('MCP-Protocol-Version'), -32020],
  ['a method header that differs', COUNT, { ...HEADERS, 'Mcp-Method': 'tools/list' }, -32020],
  ['no method header', COUNT, without('Mcp-Method'), -32020],
  ['a name header that differs', COUNT, { ...HEADERS, 'Mcp-Name': 'other' }, -32020],
  ['no name header', COUNT, without('Mcp-Name'), -32020],
  ['a name header in broken Base64', COUNT, { ...HEADERS, 'Mcp-Name': '=?base64?***?=' }, -32020],
  ['no header for a mirrored argument', region('x'), ROUTE, -32020],
  ['a mirrored argument that differs', region('x'), { ...ROUTE, 'Mcp-Param-Region': 'y' }, -32020],
  [
    'an envelope without capabilities',
    modern(callOf(7, 'count', {}), { 'io.modelcontextprotocol/clientCapabilities': undefined }),
    HEADERS,
    -32602,
  ],
  ['no envelope at all', { jsonrpc: '2.0', ...callOf(7, 'count', {}) }, HEADERS, -32602],
  [
    'a version that the tape does not speak',
    modern(callOf(7, 'count', {}), { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' }),
    { ...HEADERS, 'MCP-Protocol-Version': '2030-01-01' },
    -32022,
  ],
  [
    'initialize',
    { jsonrpc: '2.0', id: 7, method: 'initialize', params: { protocolVersion: '2025-11-25' } },
    {},
    -32022,
  ],
  ['a response', { jsonrpc: '2.0', id: 7, result: {} }, HEADERS, -32600],
  ['a batch', [COUNT], HEADERS, -32600],
])('%s is refused, and nothing of the tape is used up by it', async (_what, message, headers, code) => {
  const { url, drift } = await serving({ tape: TAPE })
  expect(errorOf(await ask(url, post(message, headers)))).toEqual({ status: 400, code })
  expect(drift()).toMatchObject({ answered: 0, misses: [] })
})

const coded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`

test('values that HTTP cannot carry come in Base64, in names and in mirrored arguments', async () => {
  const { url } = await serving({ tape: TAPE })
  const routed = await ask(url, post(region('žižkov'), { ...ROUTE, 'Mcp-Param-Region': coded('žižkov') }))
  expect(jsonOf(routed)).toEqual(complete(7, 'routed'))
  const size = modern(callOf(8, 'größe', {}))
  expect(jsonOf(await ask(url, post(size, { ...HEADERS, 'Mcp-Name': coded('größe') })))).toEqual(
    complete(8, 'groß'),
  )
})

test('an unknown method is 404, as the era has it, and a notification is accepted', async () => {
  const { url } = await serving({ tape: TAPE })
  const version = { 'MCP-Protocol-Version': '2026-07-28' }
  const ping = await ask(url, post(modern({ id: 3, method: 'ping' }), { ...version, 'Mcp-Method': 'ping' }))
  expect(errorOf(ping)).toEqual({ status: 404, code: -32601 })
  const told = await ask(url, post({ jsonrpc: '2.0', method: 'notifications/x' }, version))
  expect([told.status, told.body.length]).toEqual([202, 0])
})

test('server/discover is answered though the tape lacks it', async () => {
  const { url } = await serving({ tape: TAPE })
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'server/discover' }
  const answer = await ask(url, post(modern({ id: 1, method: 'server/discover' }), headers))
  expect(jsonOf(answer)).toMatchObject({
    result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  })
})

const by = (name: string): object =>
  modern(callOf(1, 'count', {}), { 'io.modelcontextprotocol/clientInfo': { name, version: '1' } })

test('clients are told apart by what they say of themselves, or by a name in the URL; each has its own cursors', async () => {
  const { url, drift } = await serving({ tape: TAPE })
  const asked: [string, object][] = [
    [url, by('a')],
    [url, by('b')],
    [url, by('a')],
    [`${url}?client=1`, by('a')],
    [`${url}?client=2`, by('a')],
    [`${url}?client=2`, by('a')],
  ]
  const answers = []
  for (const [target, message] of asked) answers.push(jsonOf(await ask(target, post(message, HEADERS))))
  expect(answers).toEqual(['one', 'one', 'two', 'one', 'one', 'two'].map((text) => complete(1, text)))
  expect(drift()).toMatchObject({ answered: 6, misses: [] })
})

test('the same id in requests at the same time is no trouble: each answer goes to its own request', async () => {
  const { url } = await serving({ tape: TAPE })
  const asked: readonly [object, Record<string, string>][] = [
    [modern(callOf(1, 'count', {})), HEADERS],
    [
      modern(callOf(1, 'route', { to: { region: 'žižkov' } })),
      { ...ROUTE, 'Mcp-Param-Region': coded('žižkov') },
    ],
    [modern(callOf(1, 'count', {})), HEADERS],
  ]
  const answers = await Promise.all(asked.map(([message, headers]) => ask(url, post(message, headers))))
  expect(answers.map(jsonOf)).toEqual(['one', 'routed', 'two'].map((text) => complete(1, text)))
})

const LISTEN = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
const tagged = (method: string, id: unknown, params: object = {}): object => ({
  jsonrpc: '2.0',
  method,
  params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
})

/** As recorded over HTTP: every exchange is a connection of its own. */
function overHttp(...exchanges: readonly (readonly Said[])[]): readonly Said[] {
  return exchanges.flatMap((said, at) => said.map((one) => ({ ...one, conn: at + 1, x: at + 1 })))
}

test('a subscription is a stream of its own, under the live id, and tells what a call brought about when it is made', async () => {
  const [listen, acknowledged, changed] = overHttp([
    client(modern({ id: 'then', ...LISTEN })),
    server(
      tagged('notifications/subscriptions/acknowledged', 'then', {
        notifications: { toolsListChanged: true },
      }),
    ),
    server(tagged('notifications/tools/list_changed', 'then')),
  ]) as [Said, Said, Said]
  const learn = called('learn', {}, 'learned').map((one) => ({ ...one, conn: 2, x: 2 }))
  const { url } = await serving({ tape: tapeOf(listen, acknowledged, ...learn, changed) })
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' }
  const stream = await open(url, post(modern({ id: 41, ...LISTEN }), headers))
  const first = await read(stream, 'acknowledged')
  expect(first).not.toContain('list_changed')
  const answer = await ask(url, post(modern(callOf(41, 'learn', {})), { ...HEADERS, 'Mcp-Name': 'learn' }))
  expect(jsonOf(answer)).toEqual(complete(41, 'learned'))
  const later = await read(stream, 'list_changed')
  expect((first + later).match(/"io.modelcontextprotocol\/subscriptionId":41/g)).toHaveLength(2)
  expect(later).not.toContain('id:')
  stream.destroy()
})

test('a client that closes its stream may use the id again, and nobody is disturbed', async () => {
  const { url, drift } = await serving({
    tape: tapeOf(
      ...overHttp([
        client(modern({ id: 1, ...LISTEN })),
        server(tagged('notifications/subscriptions/acknowledged', 1)),
      ]),
      ...called('count', {}, 'one').map((one) => ({ ...one, conn: 2, x: 2 })),
    ),
  })
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' }
  const stream = await open(url, post(modern({ id: 5, ...LISTEN }), headers))
  await read(stream, 'acknowledged')
  stream.destroy()
  expect(jsonOf(await ask(url, post(modern(callOf(5, 'count', {})), HEADERS)))).toEqual(complete(5, 'one'))
  expect(drift()).toMatchObject({ answered: 2, leftOver: [], misses: [] })
})

test('a tape of both eras serves both at one URL, each with what was recorded in it', async () => {
  const { url, drift } = await serving({
    tape: tapeOf(...HANDSHAKE, ...call(1, 'count', {}, 'legacy'), ...called('count', {}, 'modern')),
  })
  const session = await begin(url)
  expect(jsonOf(await session.say(callOf(2, 'count', {})))).toMatchObject(answerOf(2, 'legacy'))
  expect(jsonOf(await ask(url, post(COUNT, HEADERS)))).toEqual(complete(7, 'modern'))
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'server/discover' }
  const discovered = await ask(url, post(modern({ id: 1, method: 'server/discover' }), headers))
  expect(jsonOf(discovered)).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } })
  expect((await ask(url, { method: 'DELETE', headers: session.headers })).status).toBe(200)
  expect(drift()).toMatchObject({ leftOver: [], misses: [] })
})

/** A tape file whose first exchange was answered with this error and HTTP status 400. */
function tapeWithRefusal(error: object, ...more: readonly Said[]): string {
  const refused = overHttp([client(modern(callOf(1, 'count', {}))), server({ id: 1, error })])
  const path = tapeFile(...refused, ...more)
  const [header = '', request = '', ...lines] = readFileSync(path, 'utf8').split('\n')
  const head = '{"n":2,"t":1,"server":"demo","conn":1,"x":1,"dir":"s2c","http":{"status":400,"headers":[]}}'
  writeFileSync(path, [header.replace('"stdio"', '"http"'), request, head, ...lines].join('\n'))
  return path
}

test('what the recorded server refused for its headers is no answer to a request that has them right', async () => {
  const tape = await loadTape(
    tapeWithRefusal({ code: -32020, message: 'no Mcp-Name' }, ...called('count', {}, 'one')),
  )
  const { rest: _, ...withoutHeads } = tape // which are then read from the file
  for (const each of [tape, withoutHeads]) {
    const { url, drift } = await serving({ tape: each })
    expect(jsonOf(await ask(url, post(COUNT, HEADERS)))).toEqual(complete(7, 'one'))
    expect(drift().leftOver).toEqual([])
    await ask(url, post(COUNT, HEADERS))
    expect(drift().misses).toMatchObject([{ reason: 'EXHAUSTED' }])
  }
})

test('a request that was only refused for its headers is on the tape without a response, which the miss says', async () => {
  const { url, drift } = await serving({
    tape: await loadTape(tapeWithRefusal({ code: -32020, message: 'x' })),
  })
  await ask(url, post(COUNT, HEADERS))
  expect(drift().misses).toMatchObject([{ reason: 'UNANSWERED' }])
})

test.each([-32600, -32000, -32001, -32042])(
  'the recorded error %i with HTTP status 400 is the answer to its request, with that status',
  async (code) => {
    const error = { code, message: 'the client cannot elicit' }
    const tape = await loadTape(tapeWithRefusal(error, ...called('count', {}, 'one')))
    const { url, drift } = await serving({ tape })
    const answer = await ask(url, post(COUNT, HEADERS))
    expect([answer.status, jsonOf(answer)]).toEqual([400, { jsonrpc: '2.0', id: 7, error }])
    expect(jsonOf(await ask(url, post(COUNT, HEADERS)))).toEqual(complete(7, 'one'))
    expect(drift()).toMatchObject({ leftOver: [], misses: [] })
  },
)

test('a legacy tape refuses a modern probe in a way that clients fall back from', async () => {
  const { url } = await serving({ tape: tapeOf(...HANDSHAKE) })
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'server/discover' }
  const answer: Answer = await ask(url, post(modern({ id: 'probe', method: 'server/discover' }), headers))
  expect(errorOf(answer)).toEqual({ status: 400, code: -32000 })
  expect(messagesOf(answer)).toEqual([])
})

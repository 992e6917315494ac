import { expect, test } from 'vitest'
import { ask, open, post } from '../support/http.ts'
import { begin, errorOf, headerOf, jsonOf, messagesOf, read, serving } from './serving.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, tapeOf } from '../support/tape-of.ts'

const COUNTS = [...call(1, 'count', {}, 'one'), ...call(2, 'count', {}, 'two')]
const LIST_CHANGED = { method: 'notifications/tools/list_changed' }
const progressOf = (progressToken: unknown, progress: number): object => ({
  method: 'notifications/progress',
  params: { progressToken, progress },
})
const withToken = (id: number | string, name: string, progressToken: unknown): object => ({
  id,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken } },
})
const said = (message: object): object => ({ jsonrpc: '2.0', ...message })

test('initialize begins a session under an id of its own, every later request names it, and DELETE ends it', async () => {
  const { url, drift } = await serving({ tape: tapeOf(...HANDSHAKE, ...COUNTS) })
  const [one, two] = [await begin(url), await begin(url)]
  expect(one.id).toMatch(/^[\x21-\x7e]{16,}$/)
  expect(two.id).not.toBe(one.id)
  expect((await one.say({ method: 'notifications/initialized' })).status).toBe(202)
  expect(jsonOf(await one.say(callOf('a', 'count', {})))).toEqual(said(answerOf('a', 'one')))
  expect(jsonOf(await two.say(callOf('a', 'count', {})))).toEqual(said(answerOf('a', 'one')))
  expect(jsonOf(await one.say(callOf('b', 'count', {})))).toEqual(said(answerOf('b', 'two')))
  expect(errorOf(await ask(url, post(said(callOf(1, 'count', {})))))).toEqual({ status: 400, code: -32000 })
  expect((await ask(url, { method: 'DELETE', headers: one.headers })).status).toBe(200)
  expect(errorOf(await one.say(callOf('c', 'count', {})))).toEqual({ status: 404, code: -32001 })
  expect(jsonOf(await two.say(callOf('b', 'count', {})))).toEqual(said(answerOf('b', 'two')))
  expect(drift()).toMatchObject({ answered: 6, leftOver: [], misses: [] })
})

test.each([
  ['an Accept without streams', { Accept: 'application/json' }, 406, -32000],
  ['a body of another type', { 'Content-Type': 'text/plain' }, 415, -32000],
  ['a version that nobody speaks', { 'MCP-Protocol-Version': '1999-01-01' }, 400, -32000],
  ['a session that never was', { 'Mcp-Session-Id': 'mine' }, 404, -32001],
  ['a foreign Host', { Host: 'evil.example.com' }, 403, -39403],
  ['a foreign Origin', { Origin: 'https://evil.example.com' }, 403, -39403],
])('%s is refused', async (_what, headers, status, code) => {
  const { url } = await serving({ tape: tapeOf(...HANDSHAKE, ...COUNTS) })
  const session = await begin(url)
  expect(errorOf(await session.say(callOf(1, 'count', {}), headers))).toEqual({ status, code })
  expect(jsonOf(await session.say(callOf(1, 'count', {})))).toEqual(said(answerOf(1, 'one')))
})

test.each([
  ['what is not JSON', 'nonsense', 400, -32700],
  ['what is no message', '{"jsonrpc":"2.0"}', 400, -32600],
  ['initialize in a batch', '[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', 400, -32600],
])('%s is refused', async (_what, body, status, code) => {
  const { url } = await serving({ tape: tapeOf(...HANDSHAKE) })
  expect(errorOf(await ask(url, post(body)))).toEqual({ status, code })
})

test('other methods and other paths are refused', async () => {
  const { url } = await serving({ tape: tapeOf(...HANDSHAKE) })
  const put = await ask(url, { method: 'PUT' })
  expect([put.status, headerOf(put, 'allow')]).toEqual([405, 'GET, POST, DELETE'])
  const elsewhere = [await ask(`${url}/else`, post('{}')), await ask(url.replace('/mcp', '/sse'))]
  expect(elsewhere.map((answer) => [answer.status, jsonOf(answer)])).toMatchObject([
    [404, { error: { message: 'nothing is served at /mcp/else, only at /mcp' } }],
    [
      404,
      { error: { message: expect.stringContaining('only at /mcp; reelay serve --sse serves HTTP+SSE') } },
    ],
  ])
  expect(errorOf(await ask(url, { headers: { Accept: 'text/event-stream' } }))).toEqual({
    status: 400,
    code: -32000,
  })
})

test('an answer alone is JSON; with anything before it, it is a stream, and the progress has the live token', async () => {
  const { url } = await serving({
    tape: tapeOf(
      ...HANDSHAKE,
      ...COUNTS,
      client(withToken(3, 'work', 't')),
      server(progressOf('t', 1)),
      server(answerOf(3, 'done')),
    ),
  })
  const session = await begin(url)
  const plain = await session.say(callOf(1, 'count', {}))
  expect(headerOf(plain, 'content-type')).toBe('application/json')
  const stream = await session.say(withToken(7, 'work', 'live'))
  expect(headerOf(stream, 'content-type')).toBe('text/event-stream')
  expect(messagesOf(stream)).toEqual([said(progressOf('live', 1)), said(answerOf(7, 'done'))])
})

test('a request of the server leaves by the stream of its call, and the rest waits for the answer in another POST', async () => {
  const { url, drift } = await serving({
    tape: tapeOf(
      ...HANDSHAKE,
      client(callOf(1, 'ask', {})),
      server({ id: 0, method: 'elicitation/create', params: { message: 'sure?' } }),
      client({ id: 0, result: { action: 'accept' } }),
      server(answerOf(1, 'done')),
    ),
  })
  const session = await begin(url)
  const stream = await open(url, post(said(callOf(1, 'ask', {})), session.headers))
  const [, id] = /"id":("[^"]+")/.exec(await read(stream, 'sure?')) ?? []
  const answered = await session.say({ id: JSON.parse(id ?? ''), result: { action: 'accept' } })
  expect(answered.status).toBe(202)
  expect(await read(stream, 'done')).toContain(JSON.stringify(said(answerOf(1, 'done'))))
  expect(drift()).toMatchObject({ leftOver: [], notes: [] })
})

test('what belongs to no request waits for the standing stream, which has one reader', async () => {
  const { url } = await serving({ tape: tapeOf(...HANDSHAKE, server(LIST_CHANGED)) })
  const session = await begin(url)
  await session.say({ method: 'notifications/initialized' })
  const headers = { ...session.headers, Accept: 'text/event-stream' }
  const stream = await open(url, { headers })
  expect(await read(stream, 'list_changed')).toContain(JSON.stringify(said(LIST_CHANGED)))
  expect((await ask(url, { headers })).status).toBe(409)
  stream.destroy()
})

test('a client that lost a stream goes on after the last event that it saw, on that stream alone', async () => {
  const { url } = await serving({
    tape: tapeOf(
      ...HANDSHAKE,
      client(withToken(1, 'work', 't')),
      server(progressOf('t', 1)),
      server({ id: 0, method: 'ping' }),
      client({ id: 0, result: {} }),
      server(progressOf('t', 2)),
      server(answerOf(1, 'done')),
    ),
  })
  const session = await begin(url)
  const stream = await open(url, post(said(withToken(9, 'work', 'live')), session.headers))
  const seen = await read(stream, 'ping')
  const events = [...seen.matchAll(/^id: (\S+)$/gm)].map(([, id = '']) => id)
  stream.destroy()
  await session.say({ id: /"id":"(reelay-\d+)"/.exec(seen)?.[1], result: {} })
  const resume = (id = ''): ReturnType<typeof ask> =>
    ask(url, { headers: { ...session.headers, Accept: 'text/event-stream', 'Last-Event-ID': id } })
  const rest = await resume(events.at(-1))
  expect(messagesOf(rest)).toEqual([said(progressOf('live', 2)), said(answerOf(9, 'done'))])
  expect(messagesOf(await resume(events[0]))).toHaveLength(4)
  expect((await resume('never-was')).status).toBe(400)
})

test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
  'a client that asks for %s gets it, and only the newest gets an event to go on from before the first message',
  async (version) => {
    const { url } = await serving({
      tape: tapeOf(
        ...HANDSHAKE,
        client(withToken(1, 'work', 't')),
        server(progressOf('t', 1)),
        server(answerOf(1, 'x')),
      ),
    })
    const session = await begin(url, version)
    const { body } = await session.say(withToken(1, 'work', 't'))
    expect(/^id: \S+\ndata: \n/.test(body.toString())).toBe(version === '2025-11-25')
  },
)

test('a batch is answered with a batch, each answer to its own request', async () => {
  const { url } = await serving({ tape: tapeOf(...HANDSHAKE, ...COUNTS, ...call(3, 'add', { a: 1 }, 'sum')) })
  const session = await begin(url, '2025-03-26')
  const batch = [
    said(callOf(5, 'add', { a: 1 })),
    said({ method: 'notifications/initialized' }),
    said(callOf(6, 'count', {})),
  ]
  const answer = await ask(url, post(batch, session.headers))
  expect(jsonOf(answer)).toEqual([said(answerOf(5, 'sum')), said(answerOf(6, 'one'))])
})

test('the nth session is answered with what the nth recorded one got, and what it lacks comes from the others', async () => {
  const second = [...HANDSHAKE, ...call(1, 'count', {}, 'three')].map((one) => ({ ...one, conn: 2 }))
  const { url, drift } = await serving({ tape: tapeOf(...HANDSHAKE, ...COUNTS, ...second) })
  const sessions = [await begin(url), await begin(url), await begin(url)]
  const answers = []
  for (const { say } of sessions) answers.push(jsonOf(await say(callOf(1, 'count', {}))))
  expect(answers).toEqual(['one', 'three', 'one'].map((text) => said(answerOf(1, text))))
  expect(jsonOf(await sessions[1]!.say(callOf(2, 'count', {})))).toEqual(said(answerOf(2, 'one')))
  expect(drift().leftOver.map(({ frame }) => frame)).toEqual([6])
})

test('a tape without a handshake begins a session all the same, and lists repeat in it', async () => {
  const list = { id: 1, method: 'tools/list' }
  const tape = tapeOf(client(list), server({ id: 1, result: { tools: [] } }), ...call(2, 'count', {}, 'one'))
  const { url, drift } = await serving({ tape })
  const session = await begin(url, '2025-06-18')
  await session.say({ method: 'notifications/initialized' })
  for (const id of [1, 2, 3])
    expect(jsonOf(await session.say({ ...list, id, params: { cursor: null } }))).toMatchObject({
      id,
      result: {},
    })
  expect(jsonOf(await session.say({ id: 4, method: 'tools/call', params: { name: 'count' } }))).toMatchObject(
    answerOf(4, 'one'),
  )
  expect(drift()).toMatchObject({ leftOver: [], misses: [] })
  expect(drift().notes).toHaveLength(2)
})

test('a miss is said to the client that asked, and counts once', async () => {
  const misses: string[] = []
  const { url, drift } = await serving({
    tape: tapeOf(...HANDSHAKE, ...COUNTS),
    name: 'counts',
    onMiss: ({ reason }) => misses.push(reason),
  })
  const session = await begin(url)
  const answer = await session.say(callOf(1, 'unknown', {}))
  expect([answer.status, jsonOf(answer)]).toMatchObject([200, { id: 1, error: { code: -39404 } }])
  await session.say(callOf(2, 'count', {}))
  await session.say(callOf(3, 'count', {}))
  expect(jsonOf(await session.say(callOf(4, 'count', {})))).toMatchObject({
    error: { data: { reason: 'EXHAUSTED', accept: 'reelay serve counts --permissive --http' } },
  })
  expect(misses).toEqual(['UNKNOWN_TOOL', 'EXHAUSTED'])
  expect(drift().misses).toHaveLength(2)
})

import { expect, test } from 'vitest'
import { playing, playingWith } from '../../../test/support/session-player.ts'
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
} from '../../../test/support/tape-of.ts'
import { classifyMessage, META_KEYS } from '../../protocol/message.ts'
import type { ReplyChannel } from './reply-channel.ts'
import { SessionPlayer } from './session-player.ts'
import { RecordedServer } from './recorded-server.ts'

test.each(['0', '"0"', '12345678901234567890', '1.0', '"\\u00e9"'])(
  'the answer carries the live id %s, and every other byte is as recorded',
  (id) => {
    const recorded = '{ "result" : {"b":1.50, "a":"\\u00e9\\/","id":7,"n":1e2},"jsonrpc":"2.0", "id" : 3 }'
    const run = playing(client(callOf(3, 'x', {})), server(recorded))
    run.sayText(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x","arguments":{}}}`)
    expect(run.out).toEqual([recorded.replace('"id" : 3', `"id" : ${id}`)])
  },
)

test('parallel calls get their own answers, in whatever order they are asked', () => {
  const run = playing(
    client(callOf(1, 'a', {})),
    client(callOf(2, 'b', {})),
    server(answerOf(2, 'B')),
    server(answerOf(1, 'A')),
  )
  run.say(callOf('x', 'b', {}), callOf('y', 'a', {}))
  expect(run.heard()).toEqual(['answer "x": B', 'answer "y": A'])
  expect(run.player.drift()).toEqual({ answered: 2, leftOver: [], misses: [], notes: [] })
})

test('notifications come where they came: before the answer, and after it', () => {
  const run = playing(
    client(callOf(1, 'a', {})),
    server({ method: 'notifications/message', params: { data: 'before' } }),
    server(answerOf(1, 'A')),
    server({ method: 'notifications/tools/list_changed' }),
  )
  run.say(callOf(5, 'a', {}))
  expect(run.heard()).toEqual([
    'notifications/message {"data":"before"}',
    'answer 5: A',
    'notifications/tools/list_changed',
  ])
})

const list = (id: number | string, cursor?: string): object => ({
  id,
  method: 'tools/list',
  ...(cursor !== undefined && { params: { cursor } }),
})

test('a list is answered again with its last recorded page for the cursor, and a call is not', () => {
  const run = playingWith(
    { repeatsLists: true },
    client(list(1)),
    server(answerOf(1, 'first')),
    client(list(2)),
    server(answerOf(2, 'second')),
    server({ method: 'notifications/tools/list_changed' }),
    client(list(3, 'next')),
    server(answerOf(3, 'page 2')),
    ...call(4, 'a', {}, 'A'),
  )
  run.say(list('a'), list('b'), list('c', 'next'), list('d'), list('e'), list('f', 'next'))
  run.say(callOf('g', 'a', {}), callOf('h', 'a', {}), list('i', 'never'))
  expect(run.heard()).toEqual([
    'answer "a": first',
    'answer "b": second',
    'notifications/tools/list_changed',
    'answer "c": page 2',
    'answer "d": second',
    'answer "e": second',
    'answer "f": page 2',
    'answer "g": A',
    'answer "h": undefined',
    'answer "i": undefined',
  ])
  expect(run.player.drift()).toMatchObject({
    leftOver: [],
    misses: [{ reason: 'EXHAUSTED' }, { request: { method: 'tools/list' } }],
    notes: [
      'answered again with its last recorded response: tools/list',
      'answered again with its last recorded response: tools/list {"cursor":"next"}',
    ],
  })
})

test('what the server said before the client spoke is said at the start', () => {
  const run = playing(server({ method: 'notifications/message', params: { data: 'up' } }))
  expect(run.heard()).toEqual(['notifications/message {"data":"up"}'])
})

const WITH_PROGRESS: readonly Said[] = [
  client({ ...callOf(1, 'a', {}), params: { name: 'a', _meta: { progressToken: 1 } } }),
  server('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.50,"progressToken":1}}'),
  server(answerOf(1, 'A')),
]

test('progress carries the live token, byte for byte', () => {
  const run = playing(...WITH_PROGRESS)
  run.say({ id: 9, method: 'tools/call', params: { name: 'a', _meta: { progressToken: 'mine' } } })
  expect(run.out[0]).toBe(
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.50,"progressToken":"mine"}}',
  )
})

test('a request without a progress token gets no progress', () => {
  const run = playing(...WITH_PROGRESS)
  run.say({ id: 9, method: 'tools/call', params: { name: 'a' } })
  expect(run.heard()).toEqual(['answer 9: A'])
})

test('the client has time to read progress before the answer comes', () => {
  const rests: (() => void)[] = []
  const run = playingWith({ afterClientReads: (resume) => rests.push(resume) }, ...WITH_PROGRESS)
  run.say({ id: 9, method: 'tools/call', params: { name: 'a', _meta: { progressToken: 0 } } })
  expect(run.heard()).toHaveLength(1)
  rests.forEach((resume) => resume())
  expect(run.heard()[1]).toBe('answer 9: A')
})

const WITH_QUESTION: readonly Said[] = [
  client(callOf(0, 'ask', {})),
  server({ id: 0, method: 'elicitation/create', params: { message: 'sure?' } }),
  server({ method: 'notifications/message', params: { data: 'waiting' } }),
  client({ id: 0, result: { action: 'accept' } }),
  server(answerOf(0, 'done')),
]

test("a question of the server has an id of our own, and what followed the client's answer waits for it", () => {
  const run = playing(...WITH_QUESTION)
  run.say(callOf('reelay-1', 'ask', {}))
  expect(run.heard()).toEqual([
    'request "reelay-1": elicitation/create {"message":"sure?"}',
    'notifications/message {"data":"waiting"}',
  ])
  run.say({ id: 'reelay-1', result: { action: 'accept' } })
  expect(run.heard()[2]).toBe('answer "reelay-1": done')
  expect(run.player.drift().notes).toEqual([])
})

test('an answer other than the recorded one is noted, and the play goes on', () => {
  const run = playing(...WITH_QUESTION)
  run.say(callOf(1, 'ask', {}), { id: 'reelay-1', result: { action: 'decline' } })
  expect(run.heard().at(-1)).toBe('answer 1: done')
  expect(run.player.drift().notes).toEqual([
    'the client answered elicitation/create (#1) differently than on the tape: result.action recorded "accept", got "decline"',
  ])
})

test('a question that nobody answered on the tape is not waited for', () => {
  const run = playing(
    client(callOf(0, 'ask', {})),
    server({ id: 0, method: 'roots/list' }),
    server(answerOf(0, 'done')),
  )
  run.say(callOf(1, 'ask', {}))
  expect(run.heard()).toEqual(['request "reelay-1": roots/list', 'answer 1: done'])
})

test('a question that the live client leaves open is noted, and so is an answer to nothing', () => {
  const run = playing(...WITH_QUESTION)
  run.say(callOf(1, 'ask', {}), { id: 77, result: {} }, { id: null, error: { code: 1, message: 'x' } })
  expect(run.player.drift().notes).toEqual([
    'the client answered a request that it was not sent: id 77',
    'the client answered a request that it was not sent: id null',
    'the client never answered elicitation/create (#1)',
  ])
})

test('a question that the server took back is taken back under its new id', () => {
  const run = playing(
    client(callOf(1, 'ask', {})),
    server({ id: 5, method: 'elicitation/create' }),
    server({ method: 'notifications/cancelled', params: { requestId: 5 } }),
    server(answerOf(1, 'gave up')),
  )
  run.say(callOf(1, 'ask', {}))
  expect(run.heard()[1]).toBe('notifications/cancelled {"requestId":"reelay-1"}')
})

test('notifications are never answered: a recorded one sets off what it set off, another is noted', () => {
  const run = playing(
    ...HANDSHAKE,
    server({ method: 'notifications/tools/list_changed' }),
    server({ id: 0, method: 'roots/list' }),
    client({ id: 0, result: { roots: [] } }),
    server({ method: 'notifications/message', params: { data: 'roots seen' } }),
  )
  run.say({ method: 'notifications/initialized' }, { method: 'notifications/odd', params: { x: 1 } })
  expect(run.heard()).toEqual(['notifications/tools/list_changed', 'request "reelay-1": roots/list'])
  run.say({ id: 'reelay-1', result: { roots: [] } })
  expect(run.heard()[2]).toBe('notifications/message {"data":"roots seen"}')
  expect(run.player.drift().notes).toEqual(['the client sent notifications/odd, which is not on the tape'])
})

test('a request that the live client cancels gets nothing more', () => {
  const run = playing(
    ...WITH_QUESTION,
    client({ method: 'notifications/cancelled', params: { requestId: 99 } }),
  )
  run.say(callOf(4, 'ask', {}), {
    method: 'notifications/cancelled',
    params: { requestId: 4, reason: 'enough' },
  })
  const before = run.heard().length
  run.say({ id: 'reelay-1', result: { action: 'accept' } })
  expect(run.heard()).toHaveLength(before)
  expect(run.player.drift().notes).toEqual([])
})

test('a request that was cancelled on the tape stays without an answer', () => {
  const run = playing(
    client(callOf(1, 'slow', {})),
    server({ method: 'notifications/message', params: { data: 'working' } }),
    client({ method: 'notifications/cancelled', params: { requestId: 1 } }),
  )
  run.say(callOf(6, 'slow', {}), { method: 'notifications/cancelled', params: { requestId: 6 } })
  expect(run.heard()).toEqual(['notifications/message {"data":"working"}'])
  expect(run.player.drift()).toEqual({ answered: 1, leftOver: [], misses: [], notes: [] })
})

test('an answer that came though the client had cancelled comes again, once the live client has cancelled', () => {
  const run = playing(
    client(callOf(1, 'slow', {})),
    server({ method: 'notifications/message', params: { data: 'working' } }),
    client({ method: 'notifications/cancelled', params: { requestId: 1 } }),
    server(answerOf(1, 'too late')),
  )
  run.say(callOf(6, 'slow', {}))
  expect(run.heard()).toEqual(['notifications/message {"data":"working"}'])
  expect(run.player.drift().notes).toEqual([
    'tools/call slow {} was cancelled on the tape (#1) before its response, and was not cancelled now',
  ])
  run.say({ method: 'notifications/cancelled', params: { requestId: 6 } })
  expect(run.heard()[1]).toBe('answer 6: too late')
  expect(run.player.drift()).toEqual({ answered: 1, leftOver: [], misses: [], notes: [] })
})

test('two requests under one id at the same time are both answered, and that is noted', () => {
  const run = playing(...WITH_QUESTION, ...call(2, 'a', {}, 'A'))
  run.say(callOf(7, 'ask', {}), callOf(7, 'a', {}), { id: 'reelay-1', result: { action: 'accept' } })
  expect(run.heard().filter((said) => said.startsWith('answer'))).toEqual(['answer 7: A', 'answer 7: done'])
  expect(run.player.drift().notes).toEqual(['the client used the id 7 for two requests at the same time'])
})

test('of two requests under one id the newer is the one that can still be cancelled', () => {
  const run = playing(...WITH_QUESTION, ...WITH_QUESTION)
  run.say(callOf(7, 'ask', {}), callOf(7, 'ask', {}), { id: 'reelay-1', result: { action: 'accept' } })
  run.say({ method: 'notifications/cancelled', params: { requestId: 7 } })
  run.say({ id: 'reelay-2', result: { action: 'accept' } })
  expect(run.heard().filter((said) => said.startsWith('answer'))).toEqual(['answer 7: done'])
})

test('an answer other than the recorded one can be made a miss for what follows', () => {
  const run = playingWith({ onClientAnswer: 'fail' }, ...WITH_QUESTION)
  run.say(callOf(1, 'ask', {}), { id: 'reelay-1', result: { action: 'decline' } })
  expect(JSON.parse(run.out.at(-1) ?? '')).toMatchObject({
    id: 1,
    error: { code: -39404, data: { kind: 'replay_miss', reason: 'ANSWER_DRIFT', tool: 'ask' } },
  })
  expect(run.player.drift().misses).toMatchObject([
    {
      reason: 'ANSWER_DRIFT',
      why: 'the client answered elicitation/create (#1) differently than on the tape: result.action recorded "accept", got "decline"',
    },
  ])
})

test('an answer other than the recorded one can be ignored, and the recorded one is none', () => {
  const [ignored, failed] = (['ignore', 'fail'] as const).map((onClientAnswer) =>
    playingWith({ onClientAnswer }, ...WITH_QUESTION),
  )
  ignored?.say(callOf(1, 'ask', {}), { id: 'reelay-1', result: { action: 'decline' } })
  failed?.say(callOf(1, 'ask', {}), { id: 'reelay-1', result: { action: 'accept' } })
  for (const run of [ignored, failed])
    expect([run?.heard().at(-1), run?.player.drift().notes]).toEqual(['answer 1: done', []])
})

const page = (id: number, cursor: string | undefined, next: string | undefined): readonly Said[] => [
  client({ id, method: 'tools/list', params: cursor === undefined ? {} : { cursor } }),
  server({ id, result: { tools: [], ...(next !== undefined && { nextCursor: next }) } }),
]

test('pages of a list are found by their cursors, whatever the order', () => {
  const run = playing(...page(1, undefined, ''), ...page(2, '', 'p3'), ...page(3, 'p3', undefined))
  run.say(
    { id: 'c', method: 'tools/list', params: { cursor: 'p3' } },
    { id: 'b', method: 'tools/list', params: { cursor: '' } },
    { id: 'a', method: 'tools/list' },
    { id: 'x', method: 'tools/list', params: { cursor: 'never seen' } },
  )
  expect(run.out.slice(0, 3)).toEqual([
    '{"jsonrpc":"2.0","id":"c","result":{"tools":[]}}',
    '{"jsonrpc":"2.0","id":"b","result":{"tools":[],"nextCursor":"p3"}}',
    '{"jsonrpc":"2.0","id":"a","result":{"tools":[],"nextCursor":""}}',
  ])
  expect(run.player.drift().misses).toHaveLength(1)
})

const poll = (id: number, status: string): readonly Said[] => [
  client({ id, method: 'tasks/get', params: { taskId: 't-1' } }),
  server({ id, result: { taskId: 't-1', status, pollInterval: 5 } }),
]

test('a task keeps the id that the server gave it, and each poll gets its recorded state', () => {
  const run = playing(
    client({ id: 1, method: 'tools/call', params: { name: 'research', task: { ttl: 60 } } }),
    server({ id: 1, result: { task: { taskId: 't-1', status: 'working' } } }),
    ...poll(2, 'working'),
    server({ method: 'notifications/tasks/status', params: { taskId: 't-1', status: 'completed' } }),
    ...poll(3, 'completed'),
    client({ id: 4, method: 'tasks/result', params: { taskId: 't-1' } }),
    server(answerOf(4, 'found')),
  )
  run.say({ id: 'a', method: 'tools/call', params: { name: 'research', task: { ttl: 60 } } })
  run.say({ id: 'b', method: 'tasks/get', params: { taskId: 't-1' } })
  run.say({ id: 'c', method: 'tasks/get', params: { taskId: 't-1' } })
  run.say({ id: 'd', method: 'tasks/result', params: { taskId: 't-1' } })
  expect(run.out.map((text) => /"status":"(.*?)"/.exec(text)?.[1])).toEqual([
    'working',
    'working',
    'completed',
    'completed',
    undefined,
  ])
  expect(run.heard().at(-1)).toBe('answer "d": found')
  expect(run.player.drift()).toMatchObject({ leftOver: [], misses: [], notes: [] })
})

test('errors, unknown methods and extensions are answered as recorded', () => {
  const error = '{"code":-32042,"message":"go there","data":{"elicitations":[{"url":"https://x.example"}]}}'
  const run = playing(
    client({ id: 1, method: 'skills/get', params: { name: 's' } }),
    server('{"jsonrpc":"2.0","id":1,"result":{"skill":"s","ttlMs":5,"cacheScope":"public"}}'),
    client(callOf(2, 'login', {})),
    server(`{"jsonrpc":"2.0","id":2,"error":${error}}`),
  )
  run.say({ id: 'x', method: 'skills/get', params: { name: 's' } }, callOf('y', 'login', {}))
  expect(run.out).toEqual([
    '{"jsonrpc":"2.0","id":"x","result":{"skill":"s","ttlMs":5,"cacheScope":"public"}}',
    `{"jsonrpc":"2.0","id":"y","error":${error}}`,
  ])
})

const params = (rest: object): object => ({
  name: 'drop',
  arguments: { table: 't' },
  ...rest,
  _meta: ENVELOPE,
})

const confirm = (action: string, requestState = 's-1'): object =>
  params({ inputResponses: { ok: { action } }, requestState })

test('a confirmation that was declined is never answered as one that was accepted', () => {
  const run = playing(
    client({ id: 1, method: 'tools/call', params: params({}) }),
    server({
      id: 1,
      result: {
        resultType: 'input_required',
        inputRequests: { ok: { method: 'elicitation/create', params: { message: 'sure?' } } },
        requestState: 's-1',
      },
    }),
    client({ id: 2, method: 'tools/call', params: confirm('accept') }),
    server({ id: 2, result: { resultType: 'complete', content: [{ type: 'text', text: 'dropped' }] } }),
  )
  run.say({ id: 'a', method: 'tools/call', params: params({}) })
  run.say({ id: 'b', method: 'tools/call', params: confirm('decline') })
  run.say({ id: 'c', method: 'tools/call', params: confirm('accept', 's-2') })
  run.say({ id: 'd', method: 'tools/call', params: confirm('accept') })
  expect(run.out.slice(1, 3).map((text) => JSON.parse(text).error.data.reason)).toEqual([
    'ARGUMENT_DRIFT',
    'UNBOUND_HANDLE',
  ])
  expect(run.heard()[3]).toBe('answer "d": dropped')
})

test('initialize is answered whoever the client is, in the version that it asks for', () => {
  const run = playing(...HANDSHAKE)
  const versions = ['2025-06-18', '2025-11-25', '1999-01-01', '2026-07-28']
  for (const protocolVersion of versions)
    run.say({ id: 1, method: 'initialize', params: { protocolVersion, clientInfo: { name: 'anyone' } } })
  expect(run.out.map((text) => /"protocolVersion":"(.*?)"/.exec(text)?.[1])).toEqual([
    '2025-06-18',
    '2025-11-25',
    '2025-11-25',
    '2025-11-25',
  ])
  expect(run.player.drift()).toMatchObject({
    leftOver: [],
    misses: [],
    notes: ['initialize was answered with the requested version 2025-06-18, not with the recorded one'],
  })
})

test('a server that chose a version of its own chooses it again', () => {
  const asked = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }
  const run = playing(
    client(asked),
    server({ id: 0, result: { protocolVersion: '2024-11-05', capabilities: {} } }),
  )
  run.say(asked)
  run.say({ ...asked, params: { protocolVersion: '2025-06-18' } })
  expect(run.out.map((text) => /"protocolVersion":"(.*?)"/.exec(text)?.[1])).toEqual([
    '2024-11-05',
    '2024-11-05',
  ])
})

test('a legacy tape says that it does not know server/discover, as that server would', () => {
  const run = playing(...HANDSHAKE)
  run.say({ id: 'probe', method: 'server/discover', params: { _meta: ENVELOPE } })
  expect(run.out).toEqual([
    '{"jsonrpc":"2.0","id":"probe","error":{"code":-32601,"message":"Method not found"}}',
  ])
  expect(run.player.drift().misses).toEqual([])
})

const MODERN: readonly Said[] = [
  client({ id: 1, method: 'server/discover', params: { _meta: ENVELOPE } }),
  server({ id: 1, result: { supportedVersions: ['2026-07-28'], capabilities: {}, resultType: 'complete' } }),
]

test('a modern tape answers server/discover, and refuses initialize with what it speaks', () => {
  const run = playing(...MODERN)
  run.say({
    id: 5,
    method: 'server/discover',
    params: { _meta: { ...ENVELOPE, [META_KEYS.clientInfo]: { name: 'other' } } },
  })
  run.say({ id: 6, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
  expect(run.out[0]).toContain('"id":5,"result":{"supportedVersions"')
  expect(JSON.parse(run.out[1] ?? '')).toEqual({
    jsonrpc: '2.0',
    id: 6,
    error: {
      code: -32022,
      message:
        'Unsupported protocol version: the tape was recorded with 2026-07-28, which has no initialize. Serve the tape with --as 2025-11-25 to translate it for this client, or use a client that supports this version',
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    },
  })
  expect(run.player.drift().misses).toEqual([])
  expect(run.player.drift().notes).toEqual([
    expect.stringMatching(/^initialize was refused: Unsupported protocol version: the tape was recorded/),
  ])
})

test('ping is answered though nobody recorded one', () => {
  const run = playing(...HANDSHAKE)
  run.say({ id: 3, method: 'ping' })
  expect(run.out).toEqual(['{"jsonrpc":"2.0","id":3,"result":{}}'])
})

test('a subscription hears its live id, and what a call caused only after that call', () => {
  const tagged = { _meta: { [META_KEYS.subscriptionId]: 'L1' } }
  const run = playing(
    ...MODERN,
    client({ id: 'L1', method: 'subscriptions/listen', params: { notifications: {}, _meta: ENVELOPE } }),
    server({ method: 'notifications/subscriptions/acknowledged', params: tagged }),
    client({ id: 2, method: 'tools/call', params: { name: 'add', _meta: ENVELOPE } }),
    server({ method: 'notifications/tools/list_changed', params: tagged }),
    server({ id: 2, result: { content: [{ type: 'text', text: 'added' }], resultType: 'complete' } }),
    server({ id: 'L1', result: { resultType: 'complete', ...tagged } }),
  )
  run.say({ id: 7, method: 'subscriptions/listen', params: { notifications: {}, _meta: ENVELOPE } })
  const live = '{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}'
  expect(run.heard()).toEqual([`notifications/subscriptions/acknowledged ${live}`])
  run.say({ id: 8, method: 'tools/call', params: { name: 'add', _meta: ENVELOPE } })
  expect(run.heard().slice(1)).toEqual([
    `notifications/tools/list_changed ${live}`,
    'answer 8: added',
    'answer 7: undefined',
  ])
  expect(run.out.at(-1)).toContain('"io.modelcontextprotocol/subscriptionId":7')
})

test('log messages of a modern call go only to a client that asks for them', () => {
  const logging = { ...ENVELOPE, [META_KEYS.logLevel]: 'info' }
  const said = [
    client({ id: 2, method: 'tools/call', params: { name: 'add', _meta: logging } }),
    server({ method: 'notifications/message', params: { data: 'log' } }),
    server(answerOf(2, 'added')),
  ]
  const [quiet, curious] = [playing(...said), playing(...said)]
  quiet.say({ id: 3, method: 'tools/call', params: { name: 'add', _meta: ENVELOPE } })
  curious.say({ id: 3, method: 'tools/call', params: { name: 'add', _meta: logging } })
  expect([quiet.heard().length, curious.heard().length]).toEqual([1, 2])
})

test('the answers to a batch come as one array, once the last of them is known', () => {
  const run = playing(...WITH_QUESTION, ...call(5, 'a', {}, 'A'))
  const items = [
    callOf(1, 'ask', {}),
    { method: 'notifications/odd' },
    callOf(2, 'a', {}),
    callOf(3, 'b', {}),
  ]
  run.sayText(JSON.stringify([...items.map((item) => ({ jsonrpc: '2.0', ...item })), 17]))
  expect(run.heard()).toHaveLength(2)
  run.say({ id: 'reelay-1', result: { action: 'accept' } })
  const answers: unknown = JSON.parse(run.out[2] ?? '')
  expect(answers).toMatchObject([
    { id: 2, result: {} },
    { id: 3, error: { data: { kind: 'replay_miss' } } },
    { id: null, error: { code: -32600 } },
    { id: 1, result: {} },
  ])
})

test('a batch does not wait for a request that was never answered on the tape', () => {
  const cancelled = client({ method: 'notifications/cancelled', params: { requestId: 1 } })
  const run = playing(client(callOf(1, 'slow', {})), cancelled, ...call(2, 'a', {}, 'A'))
  const items = [callOf(1, 'slow', {}), callOf(2, 'a', {})]
  run.sayText(JSON.stringify(items.map((item) => ({ jsonrpc: '2.0', ...item }))))
  expect(run.out).toEqual([`[${JSON.stringify({ jsonrpc: '2.0', ...answerOf(2, 'A') })}]`])
})

test('a batch of notifications is not answered', () => {
  const run = playing(...HANDSHAKE)
  run.sayText('[{"jsonrpc":"2.0","method":"notifications/initialized"}]')
  expect(run.out).toEqual([])
})

test.each([
  ['{"jsonrpc"', -32700, 'Parse error: not JSON'],
  ['7', -32600, 'Invalid request: not an object'],
  ['[]', -32600, 'Invalid request: an empty batch'],
  ['{"id":1,"method":"x"}', -32600, 'Invalid request: "jsonrpc" is not "2.0"'],
  [
    '{"jsonrpc":"2.0","id":null,"method":"x"}',
    -32600,
    'Invalid request: "id" is neither a string nor a number',
  ],
])('an invalid message is refused and noted: %s', (text, code, message) => {
  const run = playing(...HANDSHAKE)
  run.sayText(text)
  expect(run.out).toEqual([JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })])
  expect(run.player.drift().notes).toEqual([`the client sent an invalid message: ${message}`])
})

test('a miss is told to the client, to who watches, and in the drift; what was skipped is left over', () => {
  const seen: string[] = []
  const run = playingWith(
    { onMiss: ({ reason }) => seen.push(reason) },
    ...HANDSHAKE,
    ...call(1, 'a', { n: 1 }, 'A'),
  )
  run.say(callOf(2, 'a', { n: 2 }), callOf(3, 'z', {}))
  expect(run.out.map((text) => JSON.parse(text).error)).toMatchObject([
    {
      code: -39404,
      data: { kind: 'replay_miss', reason: 'ARGUMENT_DRIFT', tool: 'a', accept: 'the command' },
    },
    { code: -39404, data: { kind: 'replay_miss', reason: 'UNKNOWN_TOOL', tool: 'z' } },
  ])
  expect(seen).toEqual(['ARGUMENT_DRIFT', 'UNKNOWN_TOOL'])
  const { misses, leftOver } = run.player.drift()
  expect(misses.map(({ reason }) => reason)).toEqual(seen)
  expect(leftOver).toMatchObject([{ frame: 4, method: 'tools/call' }])
})

test('a hostile request is a miss like any other', () => {
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}}`
  const odd =
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"__proto__":{"name":"a"},"constructor":1}}'
  const run = playing(...call(1, 'a', { a: { a: 1 } }, 'A'))
  run.sayText(deep)
  run.sayText(odd)
  expect(run.out.map((text) => JSON.parse(text).error.data.reason)).toEqual([
    'ARGUMENT_DRIFT',
    'ARGUMENT_DRIFT',
  ])
})

test('permissive repeats the last answer and notes it', () => {
  const run = playingWith({ permissive: true }, ...call(1, 'a', {}, 'A'))
  run.say(callOf(1, 'a', {}), callOf(2, 'a', {}))
  expect(run.heard()).toEqual(['answer 1: A', 'answer 2: A'])
  expect(run.player.drift().notes).toEqual([
    'answered again with its last recorded response: tools/call a {}',
  ])
})

test('only one server of the tape is played', () => {
  const other = [server({ method: 'notifications/message' }), ...call(1, 'a', {}, 'of the other')]
  const run = playing(...other.map((said) => ({ ...said, server: 'other' })), ...call(1, 'a', {}, 'A'))
  run.say(callOf(1, 'a', {}))
  expect(run.heard()).toEqual(['answer 1: A'])
  expect(run.player.drift().leftOver).toEqual([])
})

test('all connections of the tape play on the one live connection, in recorded order', () => {
  const second = call(1, 'a', {}, 'second').map((said) => ({ ...said, conn: 2 }))
  const run = playing(...call(1, 'a', {}, 'first'), ...second)
  run.say(callOf(1, 'a', {}), callOf(2, 'a', {}))
  expect(run.heard()).toEqual(['answer 1: first', 'answer 2: second'])
})

const told = (method: string): Said =>
  server({ method, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } } })

test('what a message sets off leaves by its own way out, until its client leaves; ids of two ways are two ids', () => {
  const listen = { method: 'subscriptions/listen', params: { _meta: ENVELOPE, notifications: {} } }
  const tape = tapeOf(
    client({ id: 1, ...listen }),
    told('notifications/subscriptions/acknowledged'),
    client({ id: 2, method: 'tools/call', params: { name: 'one', _meta: ENVELOPE } }),
    server(answerOf(2, 'done')),
    told('notifications/tools/list_changed'),
  )
  const leftBy = (isAbandoned: boolean): Record<string, number> => {
    const sent: string[] = []
    const wayOf = (scope: string): ReplyChannel => ({
      scope,
      send: () => sent.push(scope),
      reply: (text) => void (text !== undefined && sent.push(`answer by ${scope}`)),
    })
    const recordedServer = new RecordedServer({
      turns: tape.turns,
      server: 'demo',
      tape: 'x',
      commandFor: () => '',
    })
    const player = new SessionPlayer({ recordedServer, send: () => sent.push('main') })
    const take = (message: object, way: ReplyChannel): void => {
      const text = JSON.stringify({ jsonrpc: '2.0', ...message })
      player.handle(text, classifyMessage(JSON.parse(text)), way)
    }
    const [a, b] = [wayOf('a'), wayOf('b')]
    take({ id: 7, ...listen }, a)
    if (isAbandoned) player.cancel(7, a)
    player.cancel(7, b)
    take({ id: 7, method: 'tools/call', params: { name: 'one', _meta: ENVELOPE } }, b)
    return Object.fromEntries(sent.map((way) => [way, sent.filter((each) => each === way).length]))
  }
  expect(leftBy(false)).toEqual({ a: 2, 'answer by b': 1 })
  expect(leftBy(true)).toEqual({ a: 1, 'answer by b': 1 })
})

import { expect, test } from 'vitest'
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
} from '../../test/serve/tape-of.ts'
import { META } from '../wire/methods.ts'
import { Player, type PlayerOptions } from './player.ts'
import { Script, type ScriptOptions } from './script.ts'

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
  const run = playingWith({ later: (resume) => rests.push(resume) }, ...WITH_PROGRESS)
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
    'the client answered elicitation/create (#2) with {"result":{"action":"decline"}}, on the tape with {"result":{"action":"accept"}}',
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
    'the client never answered elicitation/create (#2)',
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
    notes: ['initialize was answered in version 2025-06-18, as asked, not in the recorded one'],
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
    params: { _meta: { ...ENVELOPE, [META.clientInfo]: { name: 'other' } } },
  })
  run.say({ id: 6, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
  expect(run.out[0]).toContain('"id":5,"result":{"supportedVersions"')
  expect(JSON.parse(run.out[1] ?? '')).toEqual({
    jsonrpc: '2.0',
    id: 6,
    error: {
      code: -32022,
      message: 'Unsupported protocol version',
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    },
  })
  expect(run.player.drift().misses).toEqual([])
})

test('ping is answered though nobody recorded one', () => {
  const run = playing(...HANDSHAKE)
  run.say({ id: 3, method: 'ping' })
  expect(run.out).toEqual(['{"jsonrpc":"2.0","id":3,"result":{}}'])
})

test('a subscription hears its live id, and what a call caused only after that call', () => {
  const tagged = { _meta: { [META.subscriptionId]: 'L1' } }
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
  const logging = { ...ENVELOPE, [META.logLevel]: 'info' }
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
])('what is no message is refused and noted: %s', (text, code, message) => {
  const run = playing(...HANDSHAKE)
  run.sayText(text)
  expect(run.out).toEqual([JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })])
  expect(run.player.drift().notes).toEqual([`the client sent what is no message: ${message}`])
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
  expect(run.player.drift().notes).toEqual(['answered again with its last recorded answer: tools/call a {}'])
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

interface Run {
  readonly player: Player
  /** What was sent, as it was. */
  readonly out: readonly string[]
  /** What was sent, in a few words. */
  heard(): readonly string[]
  say(...messages: readonly object[]): void
  sayText(text: string): void
}

function playing(...said: readonly Said[]): Run {
  return playingWith({}, ...said)
}

function playingWith(options: Partial<PlayerOptions & ScriptOptions>, ...said: readonly Said[]): Run {
  const out: string[] = []
  const { turns } = tapeOf(...said)
  const player = new Player({
    script: new Script({ turns, server: 'demo', tape: 'made-up.tape.jsonl', commandFor, ...options }),
    send: (text) => out.push(text),
    ...options,
  })
  player.start()
  return {
    player,
    out,
    heard: () => out.map(inWords),
    say: (...messages) =>
      messages.forEach((message) => player.receive(JSON.stringify({ jsonrpc: '2.0', ...message }))),
    sayText: (text) => player.receive(text),
  }
}

function commandFor(): string {
  return 'the command'
}

function inWords(text: string): string {
  const { id, method, params, result } = JSON.parse(text)
  const told = params === undefined ? '' : ` ${JSON.stringify(params)}`
  if (method === undefined) return `answer ${JSON.stringify(id)}: ${result?.content?.[0]?.text}`
  return id === undefined ? `${method}${told}` : `request ${JSON.stringify(id)}: ${method}${told}`
}

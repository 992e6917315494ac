import type { Client as ClientV2 } from '@modelcontextprotocol/client'
import type { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, expectTypeOf, test } from 'vitest'
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
import type * as library from '../../index.ts'
import { ReplaySession, type ReplaySessionOptions } from './replay-session.ts'

const asked = (id: number, method: string, params: object | undefined, result: object): readonly Said[] => [
  client({ id, method, ...(params && { params }) }),
  server({ id, result }),
]

const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  ...asked(1, 'tools/list', undefined, { tools: [{ name: 'search' }] }),
  ...call(2, 'search', { q: 'ä' }, 'found'),
  ...asked(3, 'resources/list', {}, { resources: [{ uri: 'file:///ä' }] }),
  ...asked(4, 'resources/templates/list', {}, { resourceTemplates: [] }),
  ...asked(5, 'resources/read', { uri: 'file:///ä' }, { contents: [{ uri: 'file:///ä', text: 'x' }] }),
  ...asked(6, 'resources/subscribe', { uri: 'file:///ä' }, {}),
  ...asked(7, 'resources/unsubscribe', { uri: 'file:///ä' }, {}),
  ...asked(8, 'prompts/list', {}, { prompts: [{ name: 'greet' }] }),
  ...asked(9, 'prompts/get', { name: 'greet', arguments: { who: 'you' } }, { messages: [] }),
  ...asked(
    10,
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'y' } },
    { completion: { values: ['you'] } },
  ),
  ...asked(11, 'logging/setLevel', { level: 'info' }, {}),
  ...asked(12, 'tasks/get', { taskId: 't' }, { taskId: 't', status: 'completed' }),
]

const CALLS = {
  listTools: [undefined, { tools: [{ name: 'search' }] }],
  callTool: [{ name: 'search', arguments: { q: 'ä' } }, { content: [{ type: 'text', text: 'found' }] }],
  listResources: [{}, { resources: [{ uri: 'file:///ä' }] }],
  listResourceTemplates: [undefined, { resourceTemplates: [] }],
  readResource: [{ uri: 'file:///ä' }, { contents: [{ uri: 'file:///ä', text: 'x' }] }],
  subscribeResource: [{ uri: 'file:///ä' }, {}],
  unsubscribeResource: [{ uri: 'file:///ä' }, {}],
  subscribe: [{ uri: 'file:///ä' }, {}],
  unsubscribe: [{ uri: 'file:///ä' }, {}],
  listPrompts: [undefined, { prompts: [{ name: 'greet' }] }],
  getPrompt: [{ name: 'greet', arguments: { who: 'you' } }, { messages: [] }],
  complete: [
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'y' } },
    { completion: { values: ['you'] } },
  ],
  setLoggingLevel: ['info', {}],
  request: [
    { method: 'tasks/get', params: { taskId: 't' } },
    { taskId: 't', status: 'completed' },
  ],
  ping: [undefined, {}],
} as const

test.each(Object.entries(CALLS))(
  '%s gives the recorded result, with a promise and without',
  async (name, [params, result]) => {
    const [session, now] = [sessionOf(), sessionOf()]
    expect(await callNamed(session, name, params)).toEqual(result)
    expect(callNamed(now.sync, name, params)).toEqual(result)
  },
)

test('initialize gives the recorded answer', async () => {
  const session = sessionOf()
  await session.connect('whatever a client takes')
  expect(session.getServerVersion()).toEqual({ name: 'recorded-server', version: '1' })
  expect(session.getServerCapabilities()).toEqual({ tools: {}, resources: {}, prompts: {} })
  expect(session.getInstructions()).toBeUndefined()
  expect(session.sync.initialize()).toMatchObject({ protocolVersion: '2025-11-25' })
})

test('where nobody recorded initialize, what the tape shows of the server stands in for it', async () => {
  const session = new ReplaySession(tapeOf(...call(1, 'search', {}, 'found')))
  const standIn = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'recorded server', version: '0' },
  }
  expect(await session.initialize()).toEqual(standIn)
  expect(session.sync.initialize()).toEqual(standIn)
})

test('a modern tape is asked in the modern form, and discovered', async () => {
  const session = new ReplaySession(
    tapeOf(
      client({ id: 1, method: 'tools/call', params: { name: 'add', _meta: ENVELOPE } }),
      server({ id: 1, result: { resultType: 'complete', content: [] } }),
    ),
  )
  expect(await session.discover()).toMatchObject({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
  })
  expect(session.sync.callTool({ name: 'add' })).toEqual({ resultType: 'complete', content: [] })
  await session.connect()
})

test('a legacy tape does not know server/discover, and says so as that server would', async () => {
  await expect(sessionOf().discover()).rejects.toMatchObject({ name: 'ServerError', code: -32601 })
})

const FAILING: readonly Said[] = [
  client(callOf(1, 'search', {})),
  server({ id: 1, error: { code: -32602, message: 'no query', data: { field: 'q' } } }),
]

test('an error that was recorded is thrown as an error of the server, with its object', async () => {
  const thrown = {
    name: 'ServerError',
    code: -32602,
    message: 'no query',
    data: { field: 'q' },
    error: { code: -32602, message: 'no query', data: { field: 'q' } },
  }
  const [session, now] = [new ReplaySession(tapeOf(...FAILING)), new ReplaySession(tapeOf(...FAILING))]
  await expect(session.callTool({ name: 'search', arguments: {} })).rejects.toMatchObject(thrown)
  expect(() => now.sync.callTool({ name: 'search', arguments: {} })).toThrow(expect.objectContaining(thrown))
})

test('strict, what is not on the tape is refused with its method and params, and so is over-use', async () => {
  const session = sessionOf()
  const other = { name: 'search', arguments: { q: 'other' } }
  await expect(session.callTool(other)).rejects.toMatchObject({
    name: 'ReelayError',
    code: 'CALL_NOT_RECORDED',
    message: expect.stringContaining('tools/call search {"q":"other"}'),
    hint: 'new ReplaySession(tape, { ignore: ["params.arguments.q"] }) accepts it',
  })
  session.sync.listTools()
  expect(() => session.sync.listTools()).toThrow('EXHAUSTED: already used 1 of 1 times')
})

test('permissive, the unknown is null and over-use repeats the last answer', async () => {
  const session = sessionOf({ permissive: true })
  expect(await session.callTool({ name: 'search', arguments: { q: 'other' } })).toBeNull()
  expect(session.sync.readResource({ uri: 'file:///never' })).toBeNull()
  const twice = [session.sync.listTools(), session.sync.listTools()]
  expect(twice).toEqual([{ tools: [{ name: 'search' }] }, { tools: [{ name: 'search' }] }])
  await session.close()
})

test('only the unknown can be null, with over-use still refused', () => {
  const session = sessionOf({ onUnknown: 'null' })
  expect(session.sync.callTool({ name: 'never' })).toBeNull()
})

test('what was not asked for is listed, and close fails over it', async () => {
  const session = new ReplaySession(tapeOf(...call(1, 'a', {}, 'A'), ...call(2, 'b', {}, 'B')))
  await session.callTool({ name: 'a', arguments: {} })
  expect(session.unconsumedKeys()).toMatchObject([{ method: 'tools/call', params: { name: 'b' } }])
  await expect(session.close()).rejects.toMatchObject({ code: 'REPLAY_DRIFT' })
  await new ReplaySession(tapeOf(...call(1, 'a', {}, 'A')), { drift: 'ignore' }).close()
})

const TALKING: readonly Said[] = [
  client({ id: 1, method: 'tools/call', params: { name: 'work', _meta: { progressToken: 1 } } }),
  server({ method: 'notifications/message', params: { level: 'info', data: 'working' } }),
  server({ method: 'notifications/progress', params: { progressToken: 1, progress: 1, total: 2 } }),
  server({ id: 0, method: 'elicitation/create', params: { message: 'sure?' } }),
  client({ id: 0, result: { action: 'accept' } }),
  server(answerOf(1, 'done')),
]

test('recorded notifications are told to handlers, by method or by the schema of SDK v1', async () => {
  for (const method of ['notifications/message', LoggingMessageNotificationSchema]) {
    const session = new ReplaySession(tapeOf(...TALKING))
    const heard: unknown[] = []
    session.setNotificationHandler(method, ({ params }) => heard.push(params))
    const onprogress = (progress: object): void => void heard.push(progress)
    await session.callTool({ name: 'work' }, undefined, { onprogress })
    expect(heard).toEqual([
      { level: 'info', data: 'working' },
      { progress: 1, total: 2 },
    ])
  }
})

test('what the server asked is answered as recorded, or by a handler of your own', async () => {
  const [left, own, declining] = [1, 2, 3].map(() => new ReplaySession(tapeOf(...TALKING)))
  const questions: unknown[] = []
  own?.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    questions.push(params)
    return { action: 'accept' }
  })
  declining?.setRequestHandler('elicitation/create', () => ({ action: 'decline' }))
  const done = { content: [{ type: 'text', text: 'done' }] }
  expect(left?.sync.callTool({ name: 'work' })).toEqual(done)
  expect(await own?.callTool({ name: 'work' })).toEqual(done)
  expect(await declining?.callTool({ name: 'work' })).toEqual(done)
  expect(questions).toEqual([{ message: 'sure?' }])
  expect([left, own, declining].map((session) => session?.drift().notes.length)).toEqual([0, 0, 1])
})

test('a call without a promise that takes time says so', () => {
  const session = sessionOf({ faults: [{ tool: 'search', timeout: true }] })
  expect(() => session.sync.callTool({ name: 'search', arguments: { q: 'ä' } })).toThrow(
    'tools/call was not answered at once',
  )
})

test('a call can be given up', async () => {
  const session = sessionOf({ faults: [{ tool: 'search', timeout: true }] })
  const patience = new AbortController()
  const given = session.callTool({ name: 'search', arguments: { q: 'ä' } }, { signal: patience.signal })
  patience.abort(new Error('enough'))
  await expect(given).rejects.toThrow('enough')
})

test('a malformed answer is none, and a request of your own may have any id', () => {
  const session = sessionOf({ faults: [{ tool: 'search', nth: 1, malformed: 'truncated' }] })
  const search = { name: 'search', arguments: { q: 'ä' } }
  expect(() => session.sync.callTool(search)).toThrow('tools/call was not answered at once')
  expect(session.handleRequest({ id: 1, method: 'tools/call', params: search })).toMatchObject({
    id: 1,
    result: {},
  })
})

test.each([{ a: 1 }, { method: 'notifications/initialized' }, { id: 1 }])(
  'handleRequest says that %j is no request',
  (message) => {
    const session = new ReplaySession(tapeOf(...HANDSHAKE))
    expect(() => session.handleRequest(message)).toThrow(
      'the argument of handleRequest is not a JSON-RPC request',
    )
  },
)

test('handleRequest takes one request object and gives one response object', () => {
  const session = sessionOf()
  expect(session.handleRequest(callOf('x', 'search', { q: 'ä' }))).toEqual({
    jsonrpc: '2.0',
    ...answerOf('x', 'found'),
  })
  expect(session.handleRequest(callOf('y', 'search', { q: 'ä' }))).toMatchObject({
    id: 'y',
    error: { code: -39404, data: { reason: 'EXHAUSTED' } },
  })
})

test('overrides answer a session too', () => {
  const session = sessionOf({ overrides: [{ tool: 'search', result: { content: [] } }] })
  expect(session.sync.callTool({ name: 'search', arguments: { q: 'anything' } })).toEqual({ content: [] })
})

type Shared =
  | 'callTool'
  | 'complete'
  | 'getInstructions'
  | 'getPrompt'
  | 'getServerCapabilities'
  | 'getServerVersion'
  | 'listPrompts'
  | 'listResourceTemplates'
  | 'listResources'
  | 'listTools'
  | 'ping'
  | 'readResource'
  | 'setLoggingLevel'
  | 'subscribeResource'
  | 'unsubscribeResource'

test('a session goes where code expects a client of either SDK', async () => {
  const [v1, v2]: [Pick<ClientV1, Shared>, Pick<ClientV2, Shared | 'discover'>] = [sessionOf(), sessionOf()]
  const search = { name: 'search', arguments: { q: 'ä' } }
  for (const { content } of [await v1.callTool(search), await v2.callTool(search)])
    expect(content).toEqual([{ type: 'text', text: 'found' }])
  expect((await v1.listTools()).tools.map(({ name }) => name)).toEqual(['search'])
})

function sessionOf(options: ReplaySessionOptions = {}): ReplaySession {
  return new ReplaySession(tapeOf(...SESSION), options)
}

function callNamed(session: object, name: string, params: unknown): unknown {
  const method: unknown = Reflect.get(session, name)
  return typeof method === 'function' ? Reflect.apply(method, session, [params]) : undefined
}

const DEPLOY = { name: 'deploy', arguments: { to: 'prod' } }
const CONFIRM = { method: 'elicitation/create', params: { message: 'sure?' } }
const deployOf = (id: number, more: object = {}): Said =>
  client({ id, method: 'tools/call', params: { ...DEPLOY, ...more, _meta: ENVELOPE } })

/** A tool of a modern server that asks twice before it answers. */
const ASKING: readonly Said[] = [
  deployOf(1),
  server({
    id: 1,
    result: { resultType: 'input_required', inputRequests: { ok: CONFIRM }, requestState: 's1' },
  }),
  deployOf(2, { inputResponses: { ok: { action: 'accept' } }, requestState: 's1' }),
  server({ id: 2, result: { resultType: 'input_required', requestState: 's2' } }),
  deployOf(3, { requestState: 's2' }),
  server({ id: 3, result: { resultType: 'complete', content: [{ type: 'text', text: 'deployed' }] } }),
]

test('a call of a modern tape that asks for input is completed, with recorded answers or those of a handler', async () => {
  const done = { resultType: 'complete', content: [{ type: 'text', text: 'deployed' }] }
  const [left, now, own, declining] = [1, 2, 3, 4].map(() => new ReplaySession(tapeOf(...ASKING)))
  const questions: unknown[] = []
  own?.setRequestHandler('elicitation/create', async ({ params }) => {
    questions.push(params)
    return { action: 'accept' }
  })
  declining?.setRequestHandler('elicitation/create', () => ({ action: 'decline' }))
  expect(await left?.callTool(DEPLOY)).toEqual(done)
  expect(now?.sync.callTool(DEPLOY)).toEqual(done)
  expect(await own?.callTool(DEPLOY)).toEqual(done)
  expect(questions).toEqual([{ message: 'sure?' }])
  await expect(declining?.callTool(DEPLOY)).rejects.toMatchObject({ code: 'CALL_NOT_RECORDED' })
  await left?.close()
})

test('a question that the tape has no answer to names the handler that is missing', async () => {
  const session = new ReplaySession(tapeOf(...ASKING.slice(0, 2)))
  await expect(session.callTool(DEPLOY)).rejects.toMatchObject({
    code: 'CALL_NOT_RECORDED',
    hint: 'answer it yourself: session.setRequestHandler("elicitation/create", …)',
  })
})

test('a session has the other members of a client', async () => {
  const session = sessionOf({ drift: 'ignore' })
  const modern = new ReplaySession(tapeOf(...ASKING), { drift: 'ignore' })
  await session.connect()
  await modern.connect()
  expect([session, modern].map((one) => [one.getProtocolEra(), one.getNegotiatedProtocolVersion()])).toEqual([
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
  ])
  expect([session.getDiscoverResult(), modern.getDiscoverResult()]).toMatchObject([
    undefined,
    { supportedVersions: ['2026-07-28'] },
  ])
  for (const { getTask } of [session, session.experimental.tasks])
    expect(await getTask.call(session, 't')).toEqual({ taskId: 't', status: 'completed' })
  await session.sendRootsListChanged()
  expect(session.drift().notes).toEqual([
    'the client sent notifications/roots/list_changed, which is not on the tape',
  ])
  expect(() => session.listen()).toThrow(expect.objectContaining({ code: 'USAGE' }))
  expect(session.transport).toBeUndefined()
})

/** The exported functions and classes that return something with `close`, but without `Symbol.asyncDispose`. */
type WithoutDispose<Exports> = {
  [Name in keyof Exports]: Exports[Name] extends (...args: never) => infer Opened
    ? NeedsDispose<Awaited<Opened>, Name>
    : Exports[Name] extends abstract new (...args: never) => infer Opened
      ? NeedsDispose<Opened, Name>
      : never
}[keyof Exports]
type NeedsDispose<Opened, Name> = Opened extends { close: unknown }
  ? Opened extends AsyncDisposable
    ? never
    : Name
  : never

test('no member of the clients of both SDKs is missing, and everything that opens can be used with await using', () => {
  expectTypeOf<Exclude<keyof ClientV1 | keyof ClientV2, keyof ReplaySession>>().toBeNever()
  expectTypeOf<WithoutDispose<typeof library>>().toBeNever()
})

test('requests without a handler go to the fallback, and a second handler can be rejected', async () => {
  const session = new ReplaySession(tapeOf(...TALKING), { drift: 'ignore' })
  const heard: string[] = []
  session.fallbackNotificationHandler = ({ method }) => heard.push(method)
  session.fallbackRequestHandler = ({ method }) => {
    heard.push(method)
    return { action: 'decline' }
  }
  await session.callTool({ name: 'work' })
  expect(heard).toEqual(['notifications/message', 'elicitation/create'])
  session.assertCanSetRequestHandler('elicitation/create')
  session.setRequestHandler('elicitation/create', () => ({ action: 'accept' }))
  expect(() => session.assertCanSetRequestHandler('elicitation/create')).toThrow(
    'there is already a handler for elicitation/create',
  )
  expect(session.autoOpenedSubscription).toBeUndefined()
})

test('notifications without a handler go to the fallback, their errors to onerror, and a closed session says so once', async () => {
  const heard: unknown[] = []
  const session = new ReplaySession(tapeOf(...TALKING))
  session.fallbackNotificationHandler = ({ method }) => heard.push(method)
  session.setNotificationHandler('notifications/message', () => {
    throw new Error('bad handler')
  })
  Object.assign(session, {
    onerror: ({ message }: Error) => heard.push(message),
    onclose: () => heard.push('closed'),
  })
  {
    await using used = session
    await used.callTool({ name: 'work' })
    used.removeNotificationHandler('notifications/message')
  }
  await session.close()
  expect(heard).toEqual(['bad handler', 'closed'])
})

test('what was not used is listed as plain objects', () => {
  const session = new ReplaySession(tapeOf(...call(1, 'a', { q: 1 }, 'A')))
  const [key] = session.unconsumedKeys()
  expect(Object.getOwnPropertyDescriptor(key, 'params')).toMatchObject({ value: { name: 'a' } })
})

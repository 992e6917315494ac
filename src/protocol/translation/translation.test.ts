import { expect, test } from 'vitest'
import { classifyMessage, META_KEYS } from '../message.ts'
import { newestSessionRevision, newestStatelessRevision } from '../revisions/index.ts'
import type { Translator, TranslatorOptions } from './translator.ts'

/** A translator with what left it on each side. Waits are over at once. */
function between(client: 'session' | 'stateless', options: Partial<TranslatorOptions> = {}) {
  const [session, stateless] = [newestSessionRevision(), newestStatelessRevision()]
  const revision = client === 'session' ? session : stateless
  const toClient: object[] = []
  const toServer: object[] = []
  const cancelled: unknown[] = []
  let waiting: (() => void)[] = []
  const translator: Translator = revision.translator(
    { version: client === 'session' ? stateless.version : session.version, ...options },
    {
      toClient: (text) => void toClient.push(JSON.parse(text) as object),
      toServer: (text) => void toServer.push(JSON.parse(text) as object),
      cancelAtServer: (id) => void cancelled.push(id),
      later: (_, run) => void waiting.push(run),
    },
  )
  const settle = (): void => {
    for (const run of waiting.splice(0)) run()
  }
  return {
    toClient,
    toServer,
    cancelled,
    /** What the client says, and what the server says. */
    client: (value: object) => (translator.fromClient(...parsed(value)), settle()),
    server: (value: object) => (translator.fromServer(...parsed(value)), settle()),
    last: (side: 'toClient' | 'toServer') => ({ toClient, toServer })[side].at(-1),
  }
}

function parsed(value: object): [string, ReturnType<typeof classifyMessage>] {
  const whole = { jsonrpc: '2.0', ...value }
  return [JSON.stringify(whole), classifyMessage(whole)]
}

function question(message: string): object {
  return { method: 'elicitation/create', params: { message } }
}

const ENVELOPE = {
  [META_KEYS.protocolVersion]: '2026-07-28',
  [META_KEYS.clientCapabilities]: { elicitation: {} },
  [META_KEYS.clientInfo]: { name: 'c', version: '1' },
}
const OPENED = {
  result: {
    protocolVersion: '2025-11-25',
    capabilities: { logging: {}, tasks: {} },
    serverInfo: { name: 's', version: '1' },
  },
}

/** A client with a session, in front of a server without. */
function sessionClient(options: Partial<TranslatorOptions> = {}) {
  const both = between('session', options)
  both.client({
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {}, roots: { listChanged: true } },
      clientInfo: { name: 'c', version: '1' },
    },
  })
  const { id } = both.last('toServer') as { id: string }
  both.server({
    id,
    result: {
      capabilities: { tools: {} },
      resultType: 'complete',
      _meta: { [META_KEYS.serverInfo]: { name: 's', version: '1' } },
    },
  })
  return both
}

/** A client without sessions, in front of a server that has answered `initialize`. */
function statelessClient(options: Partial<TranslatorOptions> = {}) {
  const both = between('stateless', options)
  both.client({ id: 'd', method: 'server/discover', params: { _meta: ENVELOPE } })
  const { id } = both.last('toServer') as { id: string }
  both.server({ id, ...OPENED })
  return both
}

test('initialize becomes server/discover, and every request gets the envelope of the client', () => {
  const both = sessionClient()
  expect(both.last('toClient')).toEqual({
    jsonrpc: '2.0',
    id: 0,
    result: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    },
  })
  both.client({ method: 'notifications/initialized' })
  both.client({
    id: 1,
    method: 'tools/call',
    params: { name: 'a', arguments: { n: 1 }, _meta: { progressToken: 7 } },
  })
  expect(both.toServer.slice(1)).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'a',
        arguments: { n: 1 },
        _meta: {
          progressToken: 7,
          [META_KEYS.protocolVersion]: '2026-07-28',
          [META_KEYS.clientCapabilities]: { elicitation: {}, roots: {} },
          [META_KEYS.clientInfo]: { name: 'c', version: '1' },
        },
      },
    },
  ])
})

test('numbers keep their spelling on both ways', () => {
  const texts: string[] = []
  const ports = {
    toClient: (text: string) => void texts.push(text),
    toServer: (text: string) => void texts.push(text),
    cancelAtServer: () => {},
    later: () => {},
  }
  const translator = newestSessionRevision().translator({ version: '2026-07-28' }, ports)
  const request =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":12345678901234567890}}}'
  translator.fromClient(request, classifyMessage(JSON.parse(request)))
  const answer = '{"jsonrpc":"2.0","id":1,"result":{"n":1.10,"resultType":"complete"}}'
  translator.fromServer(answer, classifyMessage(JSON.parse(answer)))
  expect(texts[0]).toContain('"n":12345678901234567890')
  expect(texts[1]).toBe('{"jsonrpc":"2.0","id":1,"result":{"n":1.10}}')
})

test('a question that the client of a session refuses with an error ends the call', () => {
  const both = sessionClient()
  both.client({ id: 1, method: 'tools/call', params: { name: 'a' } })
  both.server({
    id: 1,
    result: { resultType: 'input_required', inputRequests: { r: { method: 'roots/list' } } },
  })
  const { id } = both.last('toClient') as { id: string }
  both.client({ id, error: { code: -32601, message: 'no roots' } })
  expect(both.last('toClient')).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32601, message: 'no roots' },
  })
})

test('a round with two questions asks both, and sends the call again with the state', () => {
  const both = sessionClient()
  both.client({ id: 1, method: 'tools/call', params: { name: 'a' } })
  both.server({
    id: 1,
    result: {
      resultType: 'input_required',
      requestState: 's1',
      inputRequests: { x: question('x'), y: question('y') },
    },
  })
  const asked = both.toClient.slice(-2) as { id: string }[]
  for (const { id } of asked) both.client({ id, result: { action: 'accept' } })
  expect(both.last('toServer')).toMatchObject({
    id: 'reelay-2',
    params: {
      name: 'a',
      requestState: 's1',
      inputResponses: { x: { action: 'accept' }, y: { action: 'accept' } },
    },
  })
  both.server({ id: 'reelay-2', result: { content: [], resultType: 'complete' } })
  expect(both.last('toClient')).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } })
})

test('a subscription is an open request, which unsubscribing cancels', () => {
  const both = sessionClient()
  both.client({ id: 1, method: 'resources/subscribe', params: { uri: 'a:b' } })
  const { id } = both.last('toServer') as { id: string }
  const tagged = { _meta: { [META_KEYS.subscriptionId]: id } }
  both.server({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: {}, ...tagged },
  })
  expect(both.last('toClient')).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  both.server({ method: 'notifications/resources/updated', params: { uri: 'a:b', ...tagged } })
  expect(both.last('toClient')).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: 'a:b' },
  })
  both.client({ id: 2, method: 'resources/unsubscribe', params: { uri: 'a:b' } })
  expect(both.cancelled).toEqual([id])
})

test('tasks/result waits for the task, and asks for what it needs', () => {
  const both = sessionClient()
  both.client({ id: 1, method: 'tools/call', params: { name: 'a', task: { ttl: 1 } } })
  expect(both.last('toServer')).not.toHaveProperty('params.task')
  both.server({
    id: 1,
    result: { resultType: 'task', taskId: 't', status: 'working', ttlMs: 9, pollIntervalMs: 5 },
  })
  expect(both.last('toClient')).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { task: { taskId: 't', status: 'working', ttl: 9, pollInterval: 5 } },
  })
  both.client({ id: 2, method: 'tasks/result', params: { taskId: 't' } })
  const answerLast = (result: object): void =>
    both.server({ id: (both.last('toServer') as { id: string }).id, result })
  answerLast({ taskId: 't', status: 'working' })
  answerLast({
    taskId: 't',
    status: 'input_required',
    inputRequests: { q: { method: 'elicitation/create', params: {} } },
  })
  both.client({ id: (both.last('toClient') as { id: string }).id, result: { action: 'accept' } })
  expect(both.last('toServer')).toMatchObject({
    method: 'tasks/update',
    params: { inputResponses: { q: { action: 'accept' } } },
  })
  answerLast({})
  answerLast({ taskId: 't', status: 'completed', result: { content: [] } })
  expect(both.last('toClient')).toMatchObject({ id: 2, result: { content: [] } })
})

function readMissing(options: Partial<TranslatorOptions>): unknown {
  const both = sessionClient(options)
  both.client({ id: 1, method: 'resources/read', params: { uri: 'a:b' } })
  both.server({ id: 1, error: { code: -32602, message: 'not found' } })
  return both.last('toClient')
}

test('a missing resource has the code that the tape has', () => {
  expect(readMissing({})).toMatchObject({ error: { code: -32602 } })
  expect(readMissing({ notFoundCode: -32002 })).toMatchObject({ error: { code: -32002 } })
  const back = statelessClient()
  back.client({ id: 1, method: 'resources/read', params: { uri: 'a:b', _meta: ENVELOPE } })
  back.server({ id: 1, error: { code: -32002, message: 'not found' } })
  expect(back.last('toClient')).toMatchObject({ id: 1, error: { code: -32602 } })
})

test('a client without sessions opens one with its first request, and sees none of it', () => {
  const both = statelessClient()
  expect(both.toServer).toEqual([
    {
      jsonrpc: '2.0',
      id: 'reelay-1',
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: {} },
        clientInfo: { name: 'c', version: '1' },
      },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ])
  expect(both.last('toClient')).toMatchObject({
    id: 'd',
    result: {
      supportedVersions: ['2026-07-28'],
      resultType: 'complete',
      capabilities: { logging: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  })
  both.client({
    id: 1,
    method: 'tools/list',
    params: { _meta: { ...ENVELOPE, [META_KEYS.logLevel]: 'info', mine: 1 } },
  })
  expect(both.toServer.slice(2)).toMatchObject([
    { method: 'logging/setLevel', params: { level: 'info' } },
    { id: 1, method: 'tools/list', params: { _meta: { mine: 1 } } },
  ])
})

test('a session is opened with all that the client can do, if that is known', () => {
  const both = between('stateless', { clientCapabilities: { sampling: {}, roots: {} } })
  both.client({ id: 1, method: 'tools/list', params: { _meta: ENVELOPE } })
  expect(both.last('toServer')).toMatchObject({
    method: 'initialize',
    params: { capabilities: { sampling: {}, roots: {} } },
  })
})

test('a server that refuses the session refuses every request of the client', () => {
  const both = between('stateless')
  both.client({ id: 1, method: 'tools/list', params: { _meta: ENVELOPE } })
  both.server({ id: 'reelay-1', error: { code: -32602, message: 'no' } })
  both.client({ id: 2, method: 'tools/list', params: { _meta: ENVELOPE } })
  expect(both.toClient).toEqual(
    [1, 2].map((id) => ({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } })),
  )
})

test('requests of the server become one round, and answers that were given early are used', () => {
  const both = statelessClient()
  both.client({ id: 1, method: 'tools/call', params: { name: 'a', _meta: ENVELOPE } })
  both.server({ id: 70, method: 'elicitation/create', params: { message: 'x', elicitationId: 'e' } })
  expect(both.last('toClient')).toMatchObject({
    id: 1,
    result: {
      resultType: 'input_required',
      inputRequests: { 'input-1': { method: 'elicitation/create', params: { message: 'x' } } },
    },
  })
  both.client({
    id: 2,
    method: 'tools/call',
    params: {
      name: 'a',
      inputResponses: { 'input-1': { action: 'accept' }, later: { role: 'assistant' } },
      _meta: ENVELOPE,
    },
  })
  expect(both.last('toServer')).toEqual({ jsonrpc: '2.0', id: 70, result: { action: 'accept' } })
  both.server({ id: 71, method: 'sampling/createMessage', params: {} })
  expect(both.last('toServer')).toEqual({ jsonrpc: '2.0', id: 71, result: { role: 'assistant' } })
  both.server({ id: 1, result: { content: [] } })
  expect(both.last('toClient')).toMatchObject({ id: 2, result: { content: [], resultType: 'complete' } })
})

test('a question without params is asked without them', () => {
  const both = statelessClient()
  both.client({ id: 1, method: 'tools/call', params: { name: 'a', _meta: ENVELOPE } })
  both.server({ id: 70, method: 'roots/list', params: {} })
  expect(both.last('toClient')).toMatchObject({
    result: { inputRequests: { 'input-1': { method: 'roots/list' } } },
  })
  expect(JSON.stringify(both.last('toClient'))).not.toContain('"params"')
})

test('a round has an empty content if those of the recorded server have one', () => {
  const both = statelessClient({ givesContent: true })
  both.client({ id: 1, method: 'tools/call', params: { name: 'a', _meta: ENVELOPE } })
  both.server({ id: 70, method: 'elicitation/create', params: { message: 'x' } })
  expect(both.last('toClient')).toMatchObject({
    id: 1,
    result: { resultType: 'input_required', content: [] },
  })
})

test('a server that asks outside of a call gets an error, and a ping its answer', () => {
  const both = statelessClient()
  both.server({ id: 1, method: 'ping' })
  both.server({ id: 2, method: 'roots/list' })
  expect(both.toServer.slice(-2)).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { code: -32601 } },
  ])
})

test('a URL that has to be opened first is a round of input, and then the call is made again', () => {
  const both = statelessClient()
  both.client({ id: 1, method: 'tools/call', params: { name: 'a', _meta: ENVELOPE } })
  const elicitation = { mode: 'url', url: 'http://x', elicitationId: 'e', message: 'm' }
  both.server({ id: 1, error: { code: -32042, message: 'open it', data: { elicitations: [elicitation] } } })
  expect(both.last('toClient')).toMatchObject({
    id: 1,
    result: { inputRequests: { 'input-1': { params: { mode: 'url', url: 'http://x', message: 'm' } } } },
  })
  both.client({
    id: 2,
    method: 'tools/call',
    params: { name: 'a', inputResponses: { 'input-1': { action: 'accept' } }, _meta: ENVELOPE },
  })
  expect(both.last('toServer')).toMatchObject({ id: 'reelay-2', method: 'tools/call', params: { name: 'a' } })
  both.server({ id: 'reelay-2', result: { content: [] } })
  expect(both.last('toClient')).toMatchObject({ id: 2, result: { content: [] } })
})

test('subscriptions/listen subscribes to its resources, and gets the changes that its filter names', () => {
  const both = statelessClient()
  const filter = { toolsListChanged: true, resourceSubscriptions: ['a:b'] }
  both.client({ id: 'L', method: 'subscriptions/listen', params: { notifications: filter, _meta: ENVELOPE } })
  expect(both.last('toServer')).toMatchObject({ method: 'resources/subscribe', params: { uri: 'a:b' } })
  both.server({ id: (both.last('toServer') as { id: string }).id, result: {} })
  const tag = { _meta: { [META_KEYS.subscriptionId]: 'L' } }
  expect(both.last('toClient')).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: filter, ...tag },
  })
  both.server({ method: 'notifications/tools/list_changed' })
  both.server({ method: 'notifications/prompts/list_changed' })
  expect(both.toClient.at(-1)).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/tools/list_changed',
    params: tag,
  })
  both.client({ method: 'notifications/cancelled', params: { requestId: 'L' } })
  expect(both.last('toServer')).toMatchObject({ method: 'resources/unsubscribe' })
})

test('a task that is over carries its result, which a session fetches by itself', () => {
  const both = statelessClient()
  both.client({ id: 1, method: 'tasks/get', params: { taskId: 't', _meta: ENVELOPE } })
  both.server({ id: 'reelay-2', result: { taskId: 't', status: 'completed', ttl: 5 } })
  both.server({
    id: 'reelay-3',
    result: { content: [], _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } },
  })
  expect(both.last('toClient')).toMatchObject({
    id: 1,
    result: { resultType: 'complete', taskId: 't', status: 'completed', ttlMs: 5, result: { content: [] } },
  })
})

import { expect, test } from 'vitest'
import { playing } from '../../../test/support/session-player.ts'
import {
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../../../test/support/tape-of.ts'
import { META_KEYS } from '../../protocol/message.ts'
import { newestStatelessRevision } from '../../protocol/revisions/index.ts'
import type { Turn } from '../../tape/turns.ts'
import { describeServer } from './synthetic-answers.ts'
import { SessionPlayer } from './session-player.ts'
import { RecordedServer } from './recorded-server.ts'

const INFO = { name: 'quiet', version: '3' }
const SESSION: readonly Said[] = [
  ...asked(0, 'tools/list', { tools: [] }),
  ...asked(1, 'completion/complete', { completion: { values: [] } }),
  client({
    id: 'l',
    method: 'subscriptions/listen',
    params: { notifications: { promptsListChanged: true, toolsListChanged: true }, _meta: ENVELOPE },
  }),
  server({
    method: 'notifications/subscriptions/acknowledged',
    params: {
      notifications: { promptsListChanged: false, toolsListChanged: true },
      _meta: { [META_KEYS.subscriptionId]: 'l' },
    },
  }),
  client({ id: 2, method: 'resources/list', params: { _meta: ENVELOPE } }),
  server({ id: 2, error: { code: -32601, message: 'Method not found' } }),
]

function discoverResult(turns: readonly Turn[]): unknown {
  return newestStatelessRevision().openingResult(describeServer(turns, '2026-07-28'))
}

test('a modern server is known by its tape: its version, its name, and the capabilities that were seen at work', () => {
  expect(discoverResult(tapeOf(...SESSION).turns)).toEqual({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true }, completions: {} },
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [META_KEYS.serverInfo]: INFO },
  })
})

test('log messages and resource subscriptions show their capabilities too', () => {
  const granted = { resourceSubscriptions: ['file:///a'], resourcesListChanged: true }
  const { turns } = tapeOf(
    client({ id: 'l', method: 'subscriptions/listen', params: { notifications: granted, _meta: ENVELOPE } }),
    server({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: granted, _meta: { [META_KEYS.subscriptionId]: 'l' } },
    }),
    server({ method: 'notifications/message', params: { level: 'info', data: 'x' } }),
  )
  expect(discoverResult(turns)).toMatchObject({
    capabilities: { resources: { listChanged: true, subscribe: true }, logging: {} },
  })
})

test('a modern tape without server/discover answers it as often as it is asked, and says so once', () => {
  const out: string[] = []
  const { turns } = tapeOf(...SESSION)
  const player = new SessionPlayer({
    recordedServer: new RecordedServer({ turns, server: 'demo', tape: 't', commandFor: () => '' }),
    send: (text) => out.push(text),
  })
  for (const id of ['probe', 7])
    player.handleText(
      JSON.stringify({ jsonrpc: '2.0', id, method: 'server/discover', params: { _meta: ENVELOPE } }),
    )
  expect(out.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: 'probe', result: { supportedVersions: ['2026-07-28'] } },
    { id: 7, result: { supportedVersions: ['2026-07-28'] } },
  ])
  expect(player.drift()).toMatchObject({
    misses: [],
    notes: ['server/discover is not on the tape: answered by what the rest of the tape shows of the server'],
  })
})

const ask = (id: number | string, method: string, params: object = {}): object => ({ id, method, params })

test('a tape without a handshake is served: initialize, tools/list and the recorded calls', () => {
  const run = playing(
    ...call(1, 'search', { q: 'foo' }, 'found'),
    client({ id: 2, method: 'prompts/get', params: { name: 'p' } }),
    server({ id: 2, error: { code: -32602, message: 'no such prompt' } }),
    client({ id: 3, method: 'resources/list' }),
    server({ id: 3, error: { code: -32601, message: 'Method not found' } }),
  )
  run.say(
    ask('d', 'server/discover', { _meta: ENVELOPE }),
    ask('a', 'initialize', { protocolVersion: '2025-06-18', capabilities: {} }),
    { method: 'notifications/initialized' },
    ask('b', 'tools/list'),
    ask('c', 'initialize', { protocolVersion: '2031-01-01', capabilities: {} }),
    callOf('x', 'search', { q: 'foo' }),
  )
  expect(run.out.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: 'd', error: { code: -32601 } },
    { id: 'a', result: { protocolVersion: '2025-06-18', capabilities: { tools: {}, prompts: {} } } },
    { id: 'b', result: { tools: [{ name: 'search', inputSchema: { type: 'object' } }] } },
    { id: 'c', result: { protocolVersion: '2025-11-25' } },
    { id: 'x', result: { content: [{ text: 'found' }] } },
  ])
  expect(run.player.drift()).toMatchObject({
    misses: [],
    notes: [
      'initialize is not on the tape: answered by what the rest of the tape shows of the server',
      'tools/list is not on the tape: answered with the names of what was used',
    ],
  })
})

test('a list that the recorded client never asked for has what it used, and is empty if it used none', () => {
  const run = playing(...HANDSHAKE, ...call(1, 'search', { q: 'foo' }, 'found'))
  run.say(ask('a', 'tools/list'), ask('b', 'prompts/list'), ask('c', 'resources/templates/list'))
  expect(run.out.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: 'a', result: { tools: [{ name: 'search', inputSchema: { type: 'object' } }] } },
    { id: 'b', result: { prompts: [] } },
    { id: 'c', result: { resourceTemplates: [] } },
  ])
  const empty = 'is not on the tape: answered with an empty list, because none was used'
  expect(run.player.drift()).toMatchObject({
    misses: [],
    notes: [
      'tools/list is not on the tape: answered with the names of what was used',
      `prompts/list ${empty}`,
      `resources/templates/list ${empty}`,
    ],
  })
})

test('a list of something that the recorded server does not declare is a miss', () => {
  const run = playing(
    client(ask(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {} })),
    server({
      id: 0,
      result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: INFO },
    }),
    ...call(1, 'search', { q: 'foo' }, 'found'),
  )
  run.say(ask('b', 'prompts/list'))
  expect(run.player.drift().misses).toMatchObject([{ reason: 'UNKNOWN_METHOD' }])
})

test('a tape without a handshake lists the prompts and resources that were used', () => {
  const run = playing(
    client(ask(1, 'prompts/get', { name: 'p', arguments: {} })),
    server({ id: 1, result: { messages: [] } }),
    client(ask(2, 'resources/read', { uri: 'a://b' })),
    server({ id: 2, result: { contents: [] } }),
  )
  run.say(
    ask('a', 'initialize', { protocolVersion: '2025-06-18', capabilities: {} }),
    ask('b', 'prompts/list'),
    ask('c', 'resources/list'),
    ask('d', 'resources/templates/list'),
    ask('e', 'tools/list'),
  )
  expect(run.out.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: 'a', result: { capabilities: { prompts: {}, resources: {} } } },
    { id: 'b', result: { prompts: [{ name: 'p' }] } },
    { id: 'c', result: { resources: [{ uri: 'a://b', name: 'a://b' }] } },
    { id: 'd', result: { resourceTemplates: [] } },
    { id: 'e', error: { data: { reason: 'UNKNOWN_METHOD' } } },
  ])
})

test('the handshake of a tape that only shows errors of modern requests is modern', () => {
  const run = playing(
    client(ask(1, 'tools/call', { name: 'a', _meta: ENVELOPE })),
    server({ id: 1, error: { code: -32600, message: 'no' } }),
  )
  run.say(
    ask(7, 'server/discover', { _meta: ENVELOPE }),
    ask(8, 'initialize', { protocolVersion: '2025-11-25' }),
  )
  expect(run.out.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: 7, result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } },
    { id: 8, error: { code: -32022 } },
  ])
})

test('an empty tape answers no handshake', () => {
  const run = playing()
  run.say(ask(1, 'initialize'))
  expect(run.player.drift().misses).toMatchObject([{ reason: 'EMPTY_TAPE' }])
})

function asked(id: number, method: string, result: object): readonly Said[] {
  return [
    client({ id, method, params: { _meta: ENVELOPE } }),
    server({ id, result: { ...result, resultType: 'complete', _meta: { [META_KEYS.serverInfo]: INFO } } }),
  ]
}

import { expect, test } from 'vitest'
import { playing } from '../../../test/support/session-player.ts'
import { answerOf, callOf, client, ENVELOPE, server, type Said } from '../../../test/support/tape-of.ts'
import { META_KEYS } from '../../protocol/message.ts'

const log = (level: string): Said =>
  server({ method: 'notifications/message', params: { level, data: level } })

const LOGGING: readonly Said[] = [
  client({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }),
  server({ id: 0, result: { protocolVersion: '2025-11-25', capabilities: { logging: {} } } }),
  client({ id: 1, method: 'logging/setLevel', params: { level: 'debug' } }),
  server({ id: 1, result: {} }),
  client(callOf(2, 'work', {})),
  log('debug'),
  log('warning'),
  log('error'),
  server(answerOf(2, 'done')),
]

test.each([
  ['debug', ['debug', 'warning', 'error']],
  ['warning', ['warning', 'error']],
  ['emergency', []],
])('a client that sets the level %s gets no log message below it', (level, heard) => {
  const run = playing(...LOGGING)
  run.say({ id: 1, method: 'logging/setLevel', params: { level } }, callOf(2, 'work', {}))
  expect(run.out.map((text) => JSON.parse(text).params?.level).filter(Boolean)).toEqual(heard)
  expect(run.heard().at(-1)).toBe('answer 2: done')
  expect(run.player.drift().misses).toEqual([])
})

test('a client that sets no level gets the log messages as they were recorded', () => {
  const run = playing(...LOGGING)
  run.say(callOf(2, 'work', {}))
  expect(run.heard()).toHaveLength(4)
})

test('a level that was not recorded is accepted by a server that logs, with a note, and missed by one that does not', () => {
  const setLevel = { id: 5, method: 'logging/setLevel', params: { level: 'error' } }
  const [logs, mute] = [
    playing(...LOGGING),
    playing(client(callOf(2, 'work', {})), server(answerOf(2, 'done'))),
  ]
  logs.say(setLevel)
  mute.say(setLevel)
  expect(logs.out).toEqual(['{"jsonrpc":"2.0","id":5,"result":{}}'])
  expect(logs.player.drift().notes).toEqual([
    'logging/setLevel {"level":"error"} is not on the tape: accepted, and recorded log messages below that level are not sent',
  ])
  expect(mute.player.drift().misses).toHaveLength(1)
})

const asking = (level: string): object => ({
  name: 'work',
  _meta: { ...ENVELOPE, [META_KEYS.logLevel]: level },
})

test('a modern call gets log messages of the level that it asks for, and none below', () => {
  const run = playing(
    client({ id: 2, method: 'tools/call', params: asking('debug') }),
    log('debug'),
    log('error'),
    server(answerOf(2, 'done')),
  )
  run.say({ id: 9, method: 'tools/call', params: asking('error') })
  expect(run.heard()).toEqual(['notifications/message {"level":"error","data":"error"}', 'answer 9: done'])
})

const updated = (uri: string): Said => server({ method: 'notifications/resources/updated', params: { uri } })

const SUBSCRIBED: readonly Said[] = [
  client({ id: 1, method: 'resources/subscribe', params: { uri: 'file:///a' } }),
  server({ id: 1, result: {} }),
  client(callOf(2, 'touch', {})),
  updated('file:///a'),
  updated('file:///unasked'),
  server(answerOf(2, 'touched')),
  client({ id: 3, method: 'resources/unsubscribe', params: { uri: 'file:///a' } }),
  server({ id: 3, result: {} }),
  client(callOf(4, 'touch', {})),
  updated('file:///a'),
  server(answerOf(4, 'touched')),
]

test('an update of a resource goes to a client that subscribed to it, until it unsubscribes', () => {
  const run = playing(...SUBSCRIBED)
  const [subscribe, unsubscribe] = ['subscribe', 'unsubscribe'].map((verb) => ({
    id: verb,
    method: `resources/${verb}`,
    params: { uri: 'file:///a' },
  }))
  run.say(subscribe ?? {}, callOf(2, 'touch', {}), unsubscribe ?? {}, callOf(4, 'touch', {}))
  expect(run.heard().filter((said) => said.startsWith('notifications/'))).toEqual([
    'notifications/resources/updated {"uri":"file:///a"}',
    'notifications/resources/updated {"uri":"file:///unasked"}',
  ])
})

test('a client that did not subscribe gets only what the server tells unasked', () => {
  const run = playing(...SUBSCRIBED)
  run.say(callOf(2, 'touch', {}))
  expect(run.heard()).toEqual([
    'notifications/resources/updated {"uri":"file:///unasked"}',
    'answer 2: touched',
  ])
})

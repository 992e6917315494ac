import { expect, test } from 'vitest'
import { call, client, HANDSHAKE, server, tapeOf } from '../../../test/support/tape-of.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import { type MessageSelection, planMessages } from './plan.ts'

const tape = tapeOf(
  ...HANDSHAKE,
  ...call(1, 'search', {}, 'x'),
  ...call(2, 'count', {}, 'x'),
  client({ id: 3, method: 'resources/read', params: { uri: 'a:b' } }),
  server({ id: 3, error: { code: -32002, message: 'no such thing' } }),
  client({ method: 'notifications/roots/list_changed' }),
)

test.each<[string, Partial<MessageSelection>, readonly string[]]>([
  [
    'everything but the handshake by default',
    {},
    ['tools/call:search', 'tools/call:count', 'resources/read', 'notifications/roots/list_changed'],
  ],
  ['only what is included', { include: ['resources/*'] }, ['resources/read']],
  ['one tool by its name', { include: ['tools/call:count'] }, ['tools/call:count']],
  [
    'not what is excluded',
    { exclude: ['tools/call:search', 'notifications/*'] },
    ['tools/call:count', 'resources/read'],
  ],
  ['excluded counts for more than included', { include: ['*'], exclude: ['*'] }, []],
  [
    'from a time of the tape on',
    { from: 6 },
    ['tools/call:count', 'resources/read', 'notifications/roots/list_changed'],
  ],
  ['up to a time of the tape', { to: 6 }, ['tools/call:search', 'tools/call:count']],
  [
    'without notifications',
    { skipNotifications: true },
    ['tools/call:search', 'tools/call:count', 'resources/read'],
  ],
  [
    'without what was answered with an error',
    { skipErrors: true },
    ['tools/call:search', 'tools/call:count', 'notifications/roots/list_changed'],
  ],
  [
    'with the recorded handshake',
    { handshake: 'recorded', include: [] },
    ['initialize', 'notifications/initialized'],
  ],
])('what is sent: %s', (_, selection, sent) => {
  const plan = [...planMessages(turnStoreOf(tape.turns), { ...selection, allowWrites: true }, new Map())]
  const names = plan
    .filter(({ fate }) => fate.kind === 'send')
    .map(({ message, tool }) => [message.method, ...(tool === undefined ? [] : [tool])].join(':'))
  expect(names).toEqual(sent)
})

test('a message that is left out has a reason', () => {
  const left = { exclude: ['tools/*'], from: 9, skipNotifications: true }
  const plan = [...planMessages(turnStoreOf(tape.turns), left, new Map())]
  expect(plan.map(({ fate }) => (fate.kind === 'send' ? 'sent' : fate.why))).toEqual([
    'Reelay does its own handshake',
    'Reelay does its own handshake',
    'excluded',
    'excluded',
    'before the selected part of the tape',
    'notifications are skipped',
  ])
})

import { expect, test } from 'vitest'
import { callOf, client, HANDSHAKE, server, tapeOf } from '../../../test/support/tape-of.ts'
import { saying } from '../../../test/support/chatty-server.ts'
import type { ReplayOptions } from '../options.ts'
import { replay } from '../replay.ts'
import type { ReplayReport } from '../report.ts'

const ANSWER = { result: { content: [{ type: 'text', text: 'milk' }] } }
const LOG = { method: 'notifications/message', params: { level: 'info', data: 'x' } }
const BROKEN_LOG = { method: 'notifications/message', params: { level: 'loud', data: 'x' } }

test.each<[string, object, string]>([
  [
    'a notification',
    BROKEN_LOG,
    'notifications/message of the server: params.level must be equal to one of the allowed values',
  ],
  [
    'word of a change',
    { method: 'notifications/resources/updated', params: { uri: 5 } },
    'notifications/resources/updated of the server: params.uri must be string',
  ],
  [
    'a request',
    { id: 7, method: 'roots/list', params: 'none' },
    'roots/list of the server: params must be object',
  ],
])(
  'on the way to an answer with the recorded bytes, %s that breaks the official schema is found',
  async (_, word, words) => {
    const { steps } = await played([], [word])
    const found = steps.flatMap(({ findings }) => findings).filter(({ layer }) => layer === 'schema')
    expect(found).toEqual([
      {
        layer: 'schema',
        source: 'official',
        level: 'error',
        message: `${words} (official schema of 2025-11-25)`,
      },
    ])
  },
)

const WEATHER = { method: 'notifications/weather', params: 5 }

test.each<[string, readonly object[], readonly object[]]>([
  ['one that keeps to it', [LOG], [LOG]],
  ['a method that it does not know', [WEATHER], [WEATHER]],
  ['one that was broken when it was recorded', [BROKEN_LOG], [BROKEN_LOG]],
])('no failure is %s', async (_, recorded, live) => {
  expect((await played(recorded, live)).summary.verdict).toBe('pass')
})

test('a violation that was already recorded is noted once, and with always it is a failure', async () => {
  const { notes } = await played([BROKEN_LOG], [BROKEN_LOG, BROKEN_LOG])
  expect(notes).toEqual([
    'notifications/message of the server: params.level must be equal to one of the allowed values, as it was when it was recorded (official schema)',
  ])
  const always = await played([BROKEN_LOG], [BROKEN_LOG], { officialSchema: 'always' })
  expect(always.summary.verdict).toBe('fail')
  expect((await played([BROKEN_LOG], [BROKEN_LOG], { officialSchema: 'off' })).summary.verdict).toBe('pass')
})

function played(
  recorded: readonly object[],
  live: readonly object[],
  options: Partial<ReplayOptions> = {},
): Promise<ReplayReport> {
  const call = client(callOf(1, 'search', {}))
  const tape = tapeOf(...HANDSHAKE, call, ...recorded.map(server), server({ id: 1, ...ANSWER }))
  return replay(tape, { ...saying(live, ANSWER), ...options }).report
}

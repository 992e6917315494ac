import { expect, test } from 'vitest'
import { callOf, client, HANDSHAKE, server, tapeOf } from '../../../test/support/tape-of.ts'
import { saying } from '../../../test/support/chatty-server.ts'
import type { ReplayOptions } from '../options.ts'
import { replay } from '../replay.ts'
import type { ReplayReport } from '../report.ts'

const ANSWER = { result: { content: [{ type: 'text', text: 'milk' }] } }

test('a changed request of the server is found, although the answer is as recorded', async () => {
  const { steps, summary } = await played(['May I?'], ['Shall I?'])
  expect(summary.verdict).toBe('fail')
  expect(steps.flatMap(({ findings }) => findings)).toMatchObject([
    {
      layer: 'values',
      level: 'error',
      path: 'params.message',
      message: 'of the request elicitation/create changed',
      expected: 'May I?',
      actual: 'Shall I?',
    },
  ])
})

test('of two requests of the server the changed one is found', async () => {
  const { steps } = await played(['May I?', 'Sure?'], ['May I?', 'Really?'])
  expect(steps.flatMap(({ findings }) => findings)).toMatchObject([{ expected: 'Sure?', actual: 'Really?' }])
})

test.each<[string, readonly string[], readonly string[], Partial<ReplayOptions>]>([
  ['the same question', ['May I?'], ['May I?'], {}],
  ['one that the user does not compare', ['May I?'], ['Shall I?'], { ignore: ['params.message'] }],
  ['two that changed places', ['May I?', 'Sure?'], ['Sure?', 'May I?'], {}],
])('no difference is %s', async (_, recorded, live, options) => {
  expect((await played(recorded, live, options)).summary.verdict).toBe('pass')
})

test('a new request of the server is found once', async () => {
  const { steps } = await played([], ['May I?'])
  expect(steps.flatMap(({ findings }) => findings)).toMatchObject([
    { layer: 'order', message: 'the request elicitation/create is new' },
  ])
})

function played(
  recorded: readonly string[],
  live: readonly string[],
  options: Partial<ReplayOptions> = {},
): Promise<ReplayReport> {
  const exchanges = recorded.flatMap((message, place) => [
    server(question(message, place)),
    client({ id: place, result: { action: 'accept', content: {} } }),
  ])
  const tape = tapeOf(
    ...HANDSHAKE,
    client(callOf(1, 'search', {})),
    ...exchanges,
    server({ id: 1, ...ANSWER }),
  )
  return replay(tape, { ...saying(live.map(question), ANSWER), ...options }).report
}

function question(message: string, id: number): object {
  const requestedSchema = { type: 'object', properties: {} }
  return { id, method: 'elicitation/create', params: { message, requestedSchema } }
}

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

test('a question with a generated value gets the recorded answer, and one with another number does not', async () => {
  const recorded = 'Delete 3 files, job 8f3a-c091?'
  expect(await answersTo(recorded, 'Delete 3 files, job 77be-01c9?')).toBe('accept')
  expect(await answersTo(recorded, 'Delete 30 files, job 77be-01c9?')).toBe('decline')
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

/** What the server gets as the answer to a question. */
async function answersTo(recorded: string, live: string): Promise<string> {
  const { notes } = await played([recorded], [live])
  return notes.some((note) => note.includes('answered by policy')) ? 'decline' : 'accept'
}

function question(message: string, id: number): object {
  const requestedSchema = { type: 'object', properties: {} }
  return { id, method: 'elicitation/create', params: { message, requestedSchema } }
}

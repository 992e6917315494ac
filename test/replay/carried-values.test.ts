import { expect, test } from 'vitest'
import { client, server, type Said } from '../support/tape-of.ts'
import { against, called, foundIn, session } from '../support/against-tape.ts'

const shop = (id: number, votes: number): readonly Said[] => [
  ...called(1, 'create_issue', {}, { issue: { id, title: 'slow' } }),
  ...called(2, 'get_issue', { issue_id: id }, { issue: { id, votes } }),
]

/** The same with the answer once more as JSON in a text. */
const quoted = (id: number, votes: number): readonly Said[] => [
  ...called(1, 'create_issue', {}, { issue: { id } }),
  ...called(2, 'get_issue', { issue_id: id }, { issue: { id, votes }, text: JSON.stringify({ id, votes }) }),
]

const chain = (...ids: readonly string[]): readonly Said[] =>
  ids.flatMap((id, at) => [
    ...called(at * 2, `open_${at}`, {}, { handle: id }),
    ...called(at * 2 + 1, `use_${at}`, { handle: id }, { ok: true }),
  ])

const room = (id: string): readonly Said[] => [
  ...called(1, 'open_room', {}, { room: { id } }),
  client({ id: 2, method: 'tools/call', params: { name: 'close_room', arguments: { room: id } } }),
  server({
    id: 'ask',
    method: 'elicitation/create',
    params: { message: `Close room ${id}?`, requestedSchema: { type: 'object', properties: {} } },
  }),
  client({ id: 'ask', result: { action: 'accept', content: { room: id } } }),
  server({ id: 2, result: { content: [{ type: 'text', text: 'Closed.' }] } }),
]

test('a count that changes as an id does is found, though the id is carried forward', async () => {
  const report = await against(session(...shop(43, 43)), session(...shop(42, 42)))
  expect(foundIn(report)).toEqual([
    'get_issue done values result.structuredContent.issue.votes changed [42,43]',
  ])
})

test('in whatever order messages go out, none goes before the answer that holds what it sends', async () => {
  const live = session(...chain('k1j2h3g4', 'q9w8e7r6', 'm5n4b3v2'))
  for (let seed = 1; seed <= 8; seed++) {
    const ordering = { kind: 'random', seed } as const
    const report = await against(live, session(...chain('a1b2c3d4', 'e5f6g7h8', 'i9j8k7l6')), { ordering })
    expect([seed, ...foundIn(report)]).toEqual([seed])
  }
})

test('of a long run the texts of what is as recorded are not kept, and the counts are the same', async () => {
  const calls = [1, 2, 3, 4].flatMap((id) => called(id, 'ping', { id }, { pong: id }))
  const live = [1, 2, 3, 4].flatMap((id) => called(id, 'ping', { id }, { pong: id === 4 ? 5 : id }))
  const { steps, summary } = await against(session(...live), session(...calls), { keepTexts: 3 })
  expect(steps.map(({ answer }) => answer !== undefined)).toEqual([false, false, true, false, false, true])
  expect(summary).toMatchObject({ sent: 4, verdict: 'fail' })
})

test('an accepted answer keeps the recorded id, also a small one, and takes the count that changed', async () => {
  const tape = session(...quoted(42, 42))
  const { steps } = await against(session(...quoted(43, 44)), tape)
  const accepted = JSON.parse(steps.at(-1)?.acceptable?.text ?? '') as { result: unknown }
  expect(accepted.result).toEqual({
    content: [],
    structuredContent: { issue: { id: 42, votes: 44 }, text: '{"id":42,"votes":44}' },
  })
})

test('a question of the server that names a live id is the recorded question, and the answer names it too', async () => {
  const report = await against(session(...room('r7k2m9q4')), session(...room('a1b2c3d4')))
  expect(foundIn(report)).toEqual([])
  expect(report.notes).toEqual([])
  expect(report.summary.verdict).toBe('pass')
})

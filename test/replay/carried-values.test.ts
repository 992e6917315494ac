import { expect, test } from 'vitest'
import { client, server, type Said } from '../serve/tape-of.ts'
import { against, called, foundIn, session } from './against-tape.ts'

test('a count that changes as an id does is found, though the id is carried forward', async () => {
  const shop = (id: number, votes: number): readonly Said[] => [
    ...called(1, 'create_issue', {}, { issue: { id, title: 'slow' } }),
    ...called(2, 'get_issue', { issue_id: id }, { issue: { id, votes } }),
  ]
  const report = await against(session(...shop(43, 43)), session(...shop(42, 42)))
  expect(foundIn(report)).toEqual([
    'get_issue done values result.structuredContent.issue.votes has another value [42,43]',
  ])
})

test('of a long run the texts of what is as recorded are not kept, and the counts are the same', async () => {
  const calls = [1, 2, 3, 4].flatMap((id) => called(id, 'ping', { id }, { pong: id }))
  const live = [1, 2, 3, 4].flatMap((id) => called(id, 'ping', { id }, { pong: id === 4 ? 5 : id }))
  const { steps, summary } = await against(session(...live), session(...calls), { keepTexts: 3 })
  expect(steps.map(({ answer }) => answer !== undefined)).toEqual([false, false, true, false, false, true])
  expect(summary).toMatchObject({ sent: 4, verdict: 'fail' })
})

test('an accepted answer keeps the recorded id, also a small one, and takes the count that changed', async () => {
  const shop = (id: number, votes: number): readonly Said[] => [
    ...called(1, 'create_issue', {}, { issue: { id } }),
    ...called(
      2,
      'get_issue',
      { issue_id: id },
      { issue: { id, votes }, text: JSON.stringify({ id, votes }) },
    ),
  ]
  const tape = session(...shop(42, 42))
  const { steps } = await against(session(...shop(43, 44)), tape)
  const accepted = JSON.parse(steps.at(-1)?.acceptable?.text ?? '') as { result: unknown }
  expect(accepted.result).toEqual({
    content: [],
    structuredContent: { issue: { id: 42, votes: 44 }, text: '{"id":42,"votes":44}' },
  })
})

test('a question of the server that names a live id is the recorded question, and the answer names it too', async () => {
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
  const report = await against(session(...room('r7k2m9q4')), session(...room('a1b2c3d4')))
  expect(foundIn(report)).toEqual([])
  expect(report.notes).toEqual([])
  expect(report.summary.verdict).toBe('pass')
})

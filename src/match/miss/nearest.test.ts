import { call, tapeOf } from '../../../test/support/tape-of.ts'
import { expect, test } from 'vitest'
import { rankByDistance, findValueOrigin } from './nearest.ts'
import { RecordingIndex } from '../recording-index.ts'
import { RequestComparer } from '../request-comparer.ts'
import { turnStoreOf } from '../../tape/turns.ts'

const INDEX = new RecordingIndex(
  tapeOf(
    ...call(1, 'read', { path: '/etc/hosts', lines: 5 }, ''),
    ...call(2, 'read', { path: '/src/index.ts', lines: 5 }, ''),
    ...call(3, 'read', { path: '/src/main.ts', lines: 9 }, ''),
    ...call(4, 'read', { path: '/src/main.ts', lines: 8 }, ''),
  ).turns,
)

const RANKING = { comparer: new RequestComparer(), lookup: { timesOf: () => ({ recorded: 0, live: 0 }) } }

test('recorded requests are sorted by distance, and at the same distance in recorded order', () => {
  expect(ranked({ path: '/src/main.ts', lines: 1 })).toEqual([5, 7, 3, 1])
})

test('at the same distance, a request with an answer left comes first', () => {
  const params = { name: 'read', arguments: { path: '/src/main.ts', lines: 9 } }
  expect(INDEX.lookup({ server: 'demo', method: 'tools/call', params }).kind).toBe('hit')
  expect(ranked({ path: '/src/main.ts', lines: 1 })).toEqual([7, 5, 3, 1])
})

function ranked(args: object): readonly number[] {
  const request = { server: 'demo', method: 'tools/call', params: { name: 'read', arguments: args } }
  return rankByDistance(request, INDEX.entries(), RANKING).map(({ frame }) => frame)
}

const OPENED = [
  ...call(1, 'open', {}, 'h-77'),
  ...call(2, 'status', {}, 'h-77'),
  ...call(3, 'read', { handle: 'h-77' }, 'h-78'),
]
const SEARCH = { turns: turnStoreOf(tapeOf(...OPENED).turns), place: 2, frame: 5, server: 'demo' }

test('the origin of a value is the first response that contains it', () => {
  expect(findValueOrigin('h-77', SEARCH)).toEqual({
    frame: 2,
    exchange: 1,
    path: ['result', 'content', 0, 'text'],
  })
})

test('a value that the server sent after the request is not its origin', () => {
  expect(findValueOrigin('h-78', SEARCH)).toBeUndefined()
})

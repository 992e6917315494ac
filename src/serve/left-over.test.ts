import { expect, test } from 'vitest'
import { call, callOf, tapeOf, type Said } from '../../test/support/tape-of.ts'
import { formatDrift, leftOverCauses } from './drift.ts'
import { SessionPlayer } from './player/session-player.ts'
import { RecordedServer } from './player/recorded-server.ts'

test('a left-over that was asked for in another form is told from one that nobody asked for', () => {
  const drift = driftAfter(
    [...call(1, 'search', { q: 'cats', n: 1 }, ''), ...call(2, 'count', {}, '')],
    callOf(1, 'search', { q: 'dogs', n: 2 }),
  )
  expect(formatDrift(drift)).toMatchInlineSnapshot(`
    "0 requests answered, 1 miss, 2 left over
    not requested: #1 tools/call search {"n":1,"q":"cats"} (a similar request was made: params.arguments.q recorded "cats", got "dogs" and 1 more)
    not requested: #2 tools/call count {}
    missed: ARGUMENT_DRIFT tools/call search {"n":2,"q":"dogs"}"
  `)
  expect(leftOverCauses(drift.leftOver, drift.misses)).toEqual([
    { kind: 'asked-otherwise', miss: drift.misses[0] },
    { kind: 'never-asked' },
  ])
})

test('one miss explains one left-over of several that are the same', () => {
  const drift = driftAfter(
    [...call(1, 'count', { n: 1 }, ''), ...call(2, 'count', { n: 1 }, ''), ...call(3, 'count', { n: 1 }, '')],
    callOf(1, 'count', { n: 2 }),
    callOf(2, 'count', { n: 3 }),
  )
  expect(leftOverCauses(drift.leftOver, drift.misses).map(({ kind }) => kind)).toEqual([
    'asked-otherwise',
    'asked-otherwise',
    'never-asked',
  ])
})

function driftAfter(said: readonly Said[], ...asked: readonly object[]) {
  const { turns } = tapeOf(...said)
  const recordedServer = new RecordedServer({
    turns,
    server: 'demo',
    tape: 'demo',
    commandFor: () => 'the command',
  })
  const player = new SessionPlayer({ recordedServer, send: () => {} })
  for (const message of asked) player.handleText(JSON.stringify({ jsonrpc: '2.0', ...message }))
  return player.drift()
}

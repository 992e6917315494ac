import { setImmediate as nextRound } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { liveServer } from '../../test/support/live-server.ts'
import { call, HANDSHAKE, tapeOf } from '../../test/support/tape-of.ts'
import type { Turn } from '../tape/turns.ts'
import { replay } from './replay.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('a run that is over holds nothing of its tape, though answers might have taken longer', async () => {
  const turns = await replayedTurns()
  await nextRound()
  collect()
  expect(turns.filter((turn) => turn.deref() !== undefined)).toEqual([])
})

async function replayedTurns(): Promise<readonly WeakRef<Turn>[]> {
  const tape = tapeOf(...HANDSHAKE, ...call(11, 'search', { q: 'milk' }, 'two cartons'))
  const { target } = liveServer(() => ({ result: { content: [{ type: 'text', text: 'two cartons' }] } }))
  const { summary } = await replay(tape, { target, allowWrites: true, timeout: 60_000 }).report
  expect(summary.verdict).toBe('pass')
  return tape.turns.map((turn) => new WeakRef(turn))
}

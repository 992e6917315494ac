import { expect, test } from 'vitest'
import { liveServer } from '../../test/support/live-server.ts'
import { answerOf, call, HANDSHAKE, tapeOf } from '../../test/support/tape-of.ts'
import { replay } from './replay.ts'

const WHOLE = tapeOf(...HANDSHAKE, ...call(1, 'search', {}, 'one'))

test.each([
  ['a whole tape', {}, []],
  ['a tape that was cut', { ended: false }, ['the tape has no end: it was cut, or is still being recorded']],
  [
    'a tape with broken lines',
    { problems: [1, 2, 3, 4, 5, 6, 7].map((line) => ({ line, why: 'not JSON' })) },
    [
      ...[1, 2, 3, 4, 5].map((line) => `line ${line} of the tape: not JSON`),
      '2 more lines of the tape cannot be read',
    ],
  ],
])('what the report says of %s', async (_, state, notes) => {
  const { result } = answerOf(1, 'one')
  const report = await replay(
    { ...WHOLE, ...state },
    liveServer(() => ({ result })),
  ).report
  expect([report.notes, report.summary.verdict]).toEqual([notes, 'pass'])
})

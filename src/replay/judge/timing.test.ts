import { expect, test } from 'vitest'
import { call, tapeOf } from '../../../test/support/tape-of.ts'
import { toJudgedAnswer } from './judge.ts'
import { timingJudge } from './timing.ts'

// The recorded answer took 1 ms.
const [turn] = tapeOf(...call(1, 'search', {}, 'x')).turns

test.each([
  [101, 100, undefined],
  [101.5, 100, 'error'],
  [1003, undefined, undefined],
  [1004, undefined, 'warn'],
  [undefined, 0, undefined],
] as const)('an answer of %s ms with a bound of %s is %s', (duration, timing, level) => {
  if (turn === undefined) throw new Error('there is no turn')
  const judged = toJudgedAnswer({
    turn,
    tool: 'search',
    end: { kind: 'open' },
    asides: [],
    moved: new Set(),
    duration,
  })
  const findings = timingJudge(timing).judge(judged)
  expect(findings.map((finding) => finding.level)).toEqual(level === undefined ? [] : [level])
})

import { expect, test } from 'vitest'
import { parseFaultRules } from '../../faults/fault-rules.ts'
import { isPlainRun, type PlayOptions } from './session-player.ts'

test.each<[PlayOptions, boolean]>([
  [{}, true],
  [{ seed: 1, onClientAnswer: 'fail', order: 'any', overrides: [], faults: [] }, true],
  [{ pace: { speed: 1 } }, false],
  [{ order: 'recorded' }, false],
  [{ overrides: [{ result: 1 }] }, false],
  [{ faults: parseFaultRules([{ timeout: true }]) }, false],
])('a run is plain when every request gets its recorded answer at once: %j', (options, plain) => {
  expect(isPlainRun(options)).toBe(plain)
})

import { expect, test } from 'vitest'
import { planLiveServer, type LivePlanInput, type LiveMode } from './live-plan.ts'

const target = { kind: 'command', command: ['node', 'server.js'] } as const
const HERE: LivePlanInput = { target, isTapeThere: true, isCi: false }

test.each<[LiveMode, boolean, string, boolean?]>([
  ['once', true, 'replay'],
  ['once', false, 'record'],
  ['new-episodes', true, 'passthrough', true],
  ['new-episodes', false, 'record'],
  ['none', true, 'replay'],
  ['none', false, 'replay'],
  ['all', true, 'record'],
  ['all', false, 'record'],
])('mode %s with a tape (%s) means: %s', (mode, isTapeThere, kind, learns) => {
  expect(planLiveServer({ ...HERE, mode, isTapeThere })).toMatchObject({ kind, ...(learns && { learns }) })
})

test('a server without a mode makes the tape once, and never in CI', () => {
  expect(planLiveServer({ ...HERE, isTapeThere: false })).toEqual({ kind: 'record', target })
  expect(planLiveServer({ ...HERE, isTapeThere: false, isCi: true })).toEqual({
    kind: 'replay',
    warning: 'CI is set, so nothing is recorded; --mode once records anyway',
  })
  expect(planLiveServer({ ...HERE, isCi: true })).toEqual({ kind: 'replay' })
})

test('misses are passed on only because the user said so', () => {
  expect(planLiveServer({ ...HERE, target: undefined })).toEqual({ kind: 'replay' })
  expect(planLiveServer({ ...HERE, onMiss: 'error' })).toEqual({ kind: 'replay' })
  expect(planLiveServer({ ...HERE, onMiss: 'passthrough' })).toEqual({
    kind: 'passthrough',
    target,
    learns: false,
  })
})

test('in CI, a mode that goes live is said aloud', () => {
  expect(planLiveServer({ ...HERE, mode: 'new-episodes', isCi: true }).warning).toBe(
    'CI is set, and --mode new-episodes lets this run use the live server',
  )
  expect(planLiveServer({ ...HERE, onMiss: 'passthrough', isCi: true }).warning).toContain(
    '--on-miss passthrough',
  )
  expect(planLiveServer({ ...HERE, mode: 'none', isCi: true }).warning).toBeUndefined()
  expect(planLiveServer({ ...HERE, mode: 'once', isCi: true }).warning).toBeUndefined()
})

test.each<Partial<LivePlanInput>>([
  { mode: 'all', target: undefined },
  { onMiss: 'passthrough', target: undefined },
  { mode: 'none', onMiss: 'passthrough' },
])('what cannot be is refused: %j', (wishes) => {
  expect(() => planLiveServer({ ...HERE, ...wishes })).toThrow(expect.objectContaining({ code: 'USAGE' }))
})

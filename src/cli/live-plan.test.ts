import { expect, test } from 'vitest'
import { planLive, type LiveWishes, type Mode } from './live-plan.ts'

const target = { kind: 'command', command: ['node', 'server.js'] } as const
const HERE: LiveWishes = { target, isTapeThere: true, isCi: false }

test.each<[Mode, boolean, string, boolean?]>([
  ['once', true, 'replay'],
  ['once', false, 'record'],
  ['new-episodes', true, 'passthrough', true],
  ['new-episodes', false, 'record'],
  ['none', true, 'replay'],
  ['none', false, 'replay'],
  ['all', true, 'record'],
  ['all', false, 'record'],
])('mode %s with a tape (%s) means: %s', (mode, isTapeThere, kind, learns) => {
  expect(planLive({ ...HERE, mode, isTapeThere })).toMatchObject({ kind, ...(learns && { learns }) })
})

test('a server without a mode makes the tape once, and never in CI', () => {
  expect(planLive({ ...HERE, isTapeThere: false })).toEqual({ kind: 'record', target })
  expect(planLive({ ...HERE, isTapeThere: false, isCi: true })).toEqual({
    kind: 'replay',
    warning: 'CI is set, so nothing is recorded; --mode once records all the same',
  })
  expect(planLive({ ...HERE, isCi: true })).toEqual({ kind: 'replay' })
})

test('misses are passed on only because the user said so', () => {
  expect(planLive({ ...HERE, target: undefined })).toEqual({ kind: 'replay' })
  expect(planLive({ ...HERE, onMiss: 'error' })).toEqual({ kind: 'replay' })
  expect(planLive({ ...HERE, onMiss: 'passthrough' })).toEqual({
    kind: 'passthrough',
    target,
    learns: false,
  })
})

test('in CI, a mode that goes live is said aloud', () => {
  expect(planLive({ ...HERE, mode: 'new-episodes', isCi: true }).warning).toBe(
    'CI is set, and --mode new-episodes lets this run go live all the same',
  )
  expect(planLive({ ...HERE, onMiss: 'passthrough', isCi: true }).warning).toContain('--on-miss passthrough')
  expect(planLive({ ...HERE, mode: 'none', isCi: true }).warning).toBeUndefined()
  expect(planLive({ ...HERE, mode: 'once', isCi: true }).warning).toBeUndefined()
})

test.each<Partial<LiveWishes>>([
  { mode: 'all', target: undefined },
  { onMiss: 'passthrough', target: undefined },
  { mode: 'none', onMiss: 'passthrough' },
])('what cannot be is refused: %j', (wishes) => {
  expect(() => planLive({ ...HERE, ...wishes })).toThrow(expect.objectContaining({ code: 'USAGE' }))
})

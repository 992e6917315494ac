import { expect, test } from 'vitest'
import { formatDrift, hasDrifted, type Drift } from './drift.ts'

const CLEAN: Drift = { answered: 3, leftOver: [], misses: [], notes: [] }

test('a run without drift says so in one line', () => {
  expect(formatDrift(CLEAN)).toBe('3 requests answered, 0 misses, 0 left over')
  expect(hasDrifted(CLEAN)).toBe(false)
})

test('every recorded request that was skipped, every miss and every note has its line', () => {
  const request = {
    server: 'demo',
    method: 'tools/call',
    params: { name: 'echo', arguments: { message: 'hi' } },
  }
  const drift: Drift = {
    answered: 1,
    leftOver: [{ ...request, frame: 14, exchange: 6 }],
    misses: [{ reason: 'UNKNOWN_TOOL', why: '', request, tape: '', nearest: [], annotations: [], fixes: [] }],
    notes: ['the client sent notifications/odd, which is not on the tape'],
  }
  expect(formatDrift(drift)).toMatchInlineSnapshot(`
    "1 request answered, 1 miss, 1 left over
    not requested: #6 tools/call echo {"message":"hi"}
    missed: UNKNOWN_TOOL tools/call echo {"message":"hi"}
    note: the client sent notifications/odd, which is not on the tape"
  `)
  expect(hasDrifted(drift)).toBe(true)
})

test('a note alone is no drift', () => {
  expect(hasDrifted({ ...CLEAN, notes: ['something small'] })).toBe(false)
})

test('a long list is cut, and says how much of it is missing', () => {
  const leftOver = Array.from({ length: 100 }, (_, frame) => ({
    frame,
    server: 'demo',
    method: 'tools/list',
  }))
  const lines = formatDrift({ ...CLEAN, leftOver }).split('\n')
  expect(lines).toHaveLength(42)
  expect(lines.at(-1)).toBe('… and 60 more')
})

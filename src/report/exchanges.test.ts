import { expect, test } from 'vitest'
import { summarizeLatency } from './exchanges.ts'

test('the latency summary contains only measured values', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect(summarizeLatency(hundred)).toEqual({ answered: 100, minMs: 1, medianMs: 50, p95Ms: 95, maxMs: 100 })
  expect(summarizeLatency([7])).toEqual({ answered: 1, minMs: 7, medianMs: 7, p95Ms: 7, maxMs: 7 })
})

test('a tape without answers has no latency', () => {
  expect(summarizeLatency([])).toBeUndefined()
})

import { expect, test } from 'vitest'
import { tapeOf, client, server, callOf, answerOf, call } from '../../test/support/tape-of.ts'
import type { Turn } from '../tape/turns.ts'
import { exchangesInTurns, summarizeExchange, type ExchangeSummary } from './exchanges.ts'
import { statsAsText, callStats } from './stats.ts'

test('calls are counted by method and tool, with latencies, errors and unanswered calls', () => {
  const { turns } = tapeOf(
    ...call(1, 'search', { q: 'a' }, 'found'),
    client(callOf(2, 'search', { q: 'b' })),
    server({ id: 2, error: { code: -32602, message: 'no' } }),
    client(callOf(3, 'save', {})),
    server({ id: 3, result: { isError: true, content: [] } }),
    client(callOf(4, 'save', {})),
    client(callOf(5, 'load', {})),
    server(answerOf(5, 'x')),
  )
  const [all, ...calls] = callStats(linesOf(turns))
  expect(all).toMatchObject({ call: 'all', count: 5, errors: 2, unanswered: 1, errorRate: 0.4 })
  expect(calls.map(({ call: name, count, errors, unanswered }) => [name, count, errors, unanswered])).toEqual(
    [
      ['tools/call search', 2, 1, 0],
      ['tools/call save', 2, 1, 1],
      ['tools/call load', 1, 0, 0],
    ],
  )
})

test('percentiles are those of the recorded latencies', () => {
  const { turns } = tapeOf(
    ...Array.from({ length: 100 }, (_, place) => call(place, 'search', { place }, 'found')).flat(),
  )
  const timed = turns.map((turn, place) => {
    const { trigger, response } = turn
    if (trigger === undefined || response === undefined) throw new Error('a call is not whole')
    return { ...turn, response: { ...response, t: trigger.t + place + 1 } }
  })
  const { latency } = callStats(linesOf(timed))[0] ?? { latency: undefined }
  const shown = Object.entries(latency ?? {}).map(([name, ms]) => `${name} ${Math.round(ms)}`)
  expect(shown).toEqual(['avg 51', 'p50 50', 'p95 95', 'p99 99', 'max 100'])
})

test('an empty tape has zero calls', () => {
  expect(statsAsText(callStats([]))).toMatch(/^call +count.*\nall +0 +0 +0 +0\.0 ms/)
})

function linesOf(turns: readonly Turn[]): readonly ExchangeSummary[] {
  return exchangesInTurns(turns).map(summarizeExchange)
}

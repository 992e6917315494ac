import fc from 'fast-check'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { expect, test } from 'vitest'
import { Histogram } from '../histogram.ts'
import { encodeHdr } from './hdr-log.ts'
import { LoadTotals, type CallMeasurement } from './measurements.ts'
import { judgeObjectives, parseObjectives } from './objectives.ts'

const measurement = fc.record<CallMeasurement>({
  outcome: fc.constantFrom('ok', 'isError', 'timeout', 'error -32603'),
  service: fc.double({ min: 0, max: 1e6, noNaN: true }),
  response: fc.double({ min: 0, max: 1e6, noNaN: true }),
  lag: fc.double({ min: 0, max: 100, noNaN: true }),
  firstByte: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
})

test('totals of several threads add up to those of one', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), measurement, fc.nat(2))), (calls) => {
      const parts = [new LoadTotals(), new LoadTotals(), new LoadTotals()]
      const whole = new LoadTotals()
      for (const [label, call, part] of calls) {
        whole.add(label, call)
        parts[part]!.add(label, call)
      }
      const sum = new LoadTotals()
      for (const part of parts) sum.merge(LoadTotals.decode(JSON.parse(JSON.stringify(part.encode()))))
      for (const label of ['a', 'b']) {
        const [one, other] = [whole.of(label), sum.of(label)]
        expect(Object.fromEntries(other.outcomes)).toEqual(Object.fromEntries(one.outcomes))
        for (const share of [0.5, 0.99, 0.999])
          expect(other.response.percentile(share)).toBe(one.response.percentile(share))
        expect(other.service.mean).toBeCloseTo(one.service.mean, 5)
        expect(other.firstByte.count).toBe(one.firstByte.count)
      }
    }),
  )
})

test('objectives are compared with all calls, or with one tool', () => {
  const totals = new LoadTotals()
  for (let call = 1; call <= 100; call++)
    totals.add('search', { outcome: call > 98 ? 'isError' : 'ok', service: 1, response: call, lag: 0 })
  totals.add('list', { outcome: 'ok', service: 1, response: 5000, lag: 0 })
  const judged = judgeObjectives(
    parseObjectives(
      'search:p50<=51ms,search:max<100ms,max<4s,error<2%,rate>=10/s,service.p99<2ms,other:p99<1s',
    ),
    totals,
    10,
  )
  expect(judged.map(({ objective, isMet }) => [objective, isMet])).toEqual([
    ['search:p50<=51ms', true],
    ['search:max<100ms', false],
    ['max<4s', false],
    ['error<2%', true],
    ['rate>=10/s', true],
    ['service.p99<2ms', true],
    ['other:p99<1s', false],
  ])
})

test('the library of HdrHistogram reads our log lines, with the same counts and percentiles within 3 %', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.05, max: 600_000, noNaN: true }), { minLength: 1 }), (times) => {
      const histogram = new Histogram()
      for (const time of times) histogram.add(time)
      const read = decodeFromCompressedBase64(encodeHdr(histogram))
      expect(read.totalCount).toBe(times.length)
      for (const share of [50, 90, 99]) {
        const [ours, theirs] = [histogram.percentile(share / 100), read.getValueAtPercentile(share) / 1000]
        expect(Math.abs(ours - theirs)).toBeLessThanOrEqual(0.002 + ours * 0.03)
      }
    }),
  )
})

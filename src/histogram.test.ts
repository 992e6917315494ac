import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Histogram } from './histogram.ts'

test('every percentile lies within two percent of the exact one, and none beyond the longest', () => {
  const durations = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), {
    minLength: 1,
    maxLength: 300,
  })
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99, 1), (values, share) => {
      const histogram = new Histogram()
      for (const value of values) histogram.add(value)
      const exact = values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
      const found = histogram.percentile(share)
      expect(found).toBeGreaterThanOrEqual(exact * 0.98 - 0.001)
      expect(found).toBeLessThanOrEqual(exact * 1.02 + 0.001)
    }),
  )
})

test('two merged histograms return the same as one with all durations', () => {
  const [whole, half, other] = [new Histogram(), new Histogram(), new Histogram()]
  for (let value = 1; value <= 1000; value++) {
    whole.add(value)
    const part = value % 2 === 0 ? half : other
    part.add(value)
  }
  half.merge(other)
  expect([half.count, half.mean, half.max, half.percentile(0.99)]).toEqual([
    whole.count,
    whole.mean,
    whole.max,
    whole.percentile(0.99),
  ])
})

test('an empty histogram returns 0', () => {
  expect([new Histogram().mean, new Histogram().percentile(0.5)]).toEqual([0, 0])
})

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { measureFlows, measureSource } from '../../scripts/house/measure.mjs'

// The ceilings only go down: `npm run house -- --lower` writes today's figures where they are lower.
const ceilings: Record<string, number> = JSON.parse(
  readFileSync('test/architecture/house-ceilings.json', 'utf8'),
)

test('the source tree is no more tangled and no more scattered than its ceilings allow', () => {
  const figures = Object.entries(measureSource('src')).map(
    ([name, value]) => [name, Array.isArray(value) ? value.length : value] as const,
  )
  expect(aboveCeiling(figures)).toEqual([])
})

test('one message runs through no more files than its ceilings allow', () => {
  expect(aboveCeiling(Object.entries(measureFlows('.')))).toEqual([])
})

function aboveCeiling(figures: Iterable<readonly [string, number | undefined]>): string[] {
  return [...figures]
    .filter(([name, figure]) => figure !== undefined && figure > (ceilings[name] ?? Infinity))
    .map(([name, figure]) => `${name}: ${figure}, ceiling ${ceilings[name]}`)
}

import { expect, test } from 'vitest'
import { seededRandom } from '../seeded-random.ts'
import { arrivalTimes, levelAt, namedShape, parseStages, SHAPE_NAMES } from './shape.ts'

test('sessions of a constant rate start at even intervals', () => {
  expect([...arrivalTimes(namedShape('constant', 4, 1000))]).toEqual([0, 250, 500, 750])
})

test('a ramp starts as many sessions as the area below its line, ever more often', () => {
  const times = [...arrivalTimes(namedShape('ramp', 100, 10_000))]
  expect(times).toHaveLength(500)
  const gaps = times.slice(1).map((time, place) => time - times[place]!)
  expect(gaps.every((gap, place) => place === 0 || gap <= gaps[place - 1]! + 1e-6)).toBe(true)
})

test.each(SHAPE_NAMES)('the arrivals of the shape %s match its level in every tenth of the run', (name) => {
  const shape = namedShape(name, 200, 10_000)
  const times = [...arrivalTimes(shape)]
  for (let from = 0; from < 10_000; from += 1000) {
    let area = 0
    for (let at = from; at < from + 1000; at++) area += levelAt(shape, at + 0.5) / 1000
    const started = times.filter((time) => time >= from && time < from + 1000).length
    expect(Math.abs(started - area)).toBeLessThanOrEqual(2)
  }
})

test('random arrivals have the same rate, and a seed repeats them', () => {
  const shape = namedShape('constant', 1000, 10_000)
  const times = [...arrivalTimes(shape, seededRandom(3))]
  expect(times).toEqual([...arrivalTimes(shape, seededRandom(3))])
  expect(Math.abs(times.length - 10_000)).toBeLessThan(400)
})

test('stages move the level in straight lines', () => {
  const shape = parseStages('10s:50, 20s:50,10s:0')
  expect(shape.duration).toBe(40_000)
  expect([0, 5000, 10_000, 29_000, 35_000, 40_000].map((time) => levelAt(shape, time))).toEqual([
    0, 25, 50, 50, 25, 0,
  ])
})

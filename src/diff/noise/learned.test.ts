import { expect, test } from 'vitest'
import { diffJson } from '../diff.ts'
import { separateNoise } from './index.ts'
import { LearnedNoise } from './learned.ts'

const text = (value: unknown): string => JSON.stringify(value)

function learnNoise(pairs: readonly (readonly [one: string, other: string])[]): LearnedNoise {
  const noise = new LearnedNoise()
  for (const [one, other] of pairs) noise.learn(one, other)
  return noise
}

function judged(noise: LearnedNoise, expected: unknown, actual: unknown): readonly string[] {
  return separateNoise(diffJson(text(expected), text(actual)), { learned: noise }).kept.map(({ path }) =>
    path.join('.'),
  )
}

test('a path at which responses differed explains differences there and nowhere else', () => {
  const noise = learnNoise([[text({ at: 1, id: 7 }), text({ at: 2, id: 7 })]])
  expect(judged(noise, { at: 1, id: 7 }, { at: 99, id: 7 })).toEqual([])
  expect(judged(noise, { at: 1, id: 7 }, { at: 99, id: 8 })).toEqual(['id'])
  expect(noise.paths()).toEqual([{ path: 'at', kinds: ['changed'], types: ['number'], seen: 1 }])
})

test('noise that was learned for one item applies to every item', () => {
  const noise = learnNoise([[text([{ at: 1 }, { at: 1 }]), text([{ at: 1 }, { at: 2 }])]])
  expect(judged(noise, [{ at: 1 }, { at: 1 }], [{ at: 5 }, { at: 6 }])).toEqual([])
})

test('a name alone never makes a difference noise', () => {
  expect(judged(learnNoise([]), { timestamp: 1, id: 'a' }, { timestamp: 2, id: 'b' })).toEqual([
    'timestamp',
    'id',
  ])
})

test('a value of another type or a missing field is not noise', () => {
  const noise = learnNoise([[text({ at: 1 }), text({ at: 2 })]])
  expect(judged(noise, { at: 1 }, { at: 'today' })).toEqual(['at'])
  expect(judged(noise, { at: 1 }, {})).toEqual(['at'])
  const wavering = learnNoise([[text({ at: 1 }), text({ at: 'now' })]])
  expect(judged(wavering, { at: 2 }, { at: 'now' })).toEqual([])
  expect(judged(wavering, { at: 2 }, { at: null })).toEqual(['at'])
})

test('a field that was optional before may be missing', () => {
  const noise = learnNoise([[text({ hint: 'x' }), text({})]])
  expect(judged(noise, { hint: 'x' }, {})).toEqual([])
  expect(judged(noise, { hint: 'x' }, { hint: 'y' })).toEqual(['hint'])
})

test('only the words of a text that varied are noise', () => {
  const noise = learnNoise([
    ['"done at 12:00:01 by ada"', '"done at 12:00:07 by ada"'],
    ['"done at 12:00:01 by ada"', '"done at 12:00:09 by ada"'],
  ])
  expect(judged(noise, 'done at 12:00:01 by ada', 'done at 23:59:59 by ada')).toEqual([])
  expect(judged(noise, 'done at 12:00:01 by ada', 'done at 23:59:59 by eve')).toEqual([''])
  expect(judged(noise, 'done at 12:00:01 by ada', 'failed at 23:59:59 by ada')).toEqual([''])
})

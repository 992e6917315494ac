import { expect, test } from 'vitest'
import { createDiffer } from '../diff.ts'
import { NOISE_KINDS, separateNoise } from './index.ts'
import type { NoiseContext } from './noise-kind.ts'

const NEW_IDS: ReadonlyMap<unknown, unknown> = new Map([
  ['run-1', 'run-7'],
  ['doc-1', 'doc-7'],
])
const isLiveValue = (expected: unknown, actual: unknown): boolean => NEW_IDS.get(expected) === actual
const HOUR = 3_600_000
const clock = {
  recorded: { from: Date.parse('2026-11-15T10:00:00Z'), to: Date.parse('2026-11-15T11:00:00Z') },
  live: () => ({ from: Date.now() - HOUR, to: Date.now() }),
}

test('a difference that is suppressed names the kind of noise that explains it', () => {
  const expected = { id: 'run-1', at: '2026-11-15T10:30:00Z', size: 1, count: 1 }
  const actual = { id: 'run-7', at: new Date().toISOString(), size: 2, count: 2 }
  const learned = { explains: ({ path }: { path: readonly unknown[] }) => path[0] === 'size' }
  expect(separated(expected, actual, { isLiveValue, clock, learned })).toEqual({
    kept: ['changed count'],
    suppressed: ['live-value id', 'clock at', 'learned size'],
  })
})

test('the contents of a renamed member are compared, and noise in them is found too', () => {
  const expected = { files: { 'doc-1': { owner: 'run-1', size: 1 } } }
  const actual = { files: { 'doc-7': { owner: 'run-7', size: 2 } } }
  expect(separated(expected, actual, { isLiveValue })).toEqual({
    kept: ['changed files.doc-1.size'],
    suppressed: ['renamed-member files.doc-1', 'renamed-member files.doc-7', 'live-value files.doc-1.owner'],
  })
})

test('without the facts that a kind relies on, nothing is noise', () => {
  expect(separated({ id: 'run-1', n: 1 }, { id: 'run-7' }, {})).toEqual({
    kept: ['changed id', 'removed n'],
    suppressed: [],
  })
})

test('every kind of noise has its own name', () => {
  expect(NOISE_KINDS.map(({ name }) => name)).toEqual(['renamed-member', 'live-value', 'clock', 'learned'])
})

function separated(expected: unknown, actual: unknown, context: NoiseContext): object {
  const differ = createDiffer()
  const { kept, suppressed } = separateNoise(differ.values(expected, actual), { differ, ...context })
  return {
    kept: kept.map(({ kind, path }) => `${kind} ${path.join('.')}`),
    suppressed: suppressed.map(({ noise, difference }) => `${noise} ${difference.path.join('.')}`),
  }
}

test.each([
  ['created job_a328c2e4', 'created job_97ee4d7e', true],
  ['created job_a328c2e4', 'created tsk_97ee4d7e', false],
  ['created job_a328c2e4', 'created 97ee4d7e-2ed5-445a-bdb1-fc36690d4313', false],
  ['created brave_bell', 'created calm_curie', true],
])('a carried id in a text has to keep its shape: %s, %s: %s', (expected, actual, isSame) => {
  const differences = createDiffer().values({ text: expected }, { text: actual })
  const { kept } = separateNoise(differences, { isLiveValue: () => true })
  expect(kept).toHaveLength(isSame ? 0 : 1)
})

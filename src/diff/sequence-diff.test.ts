import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from './sequence-diff.ts'

const numbered = (word: string): string => Array.from({ length: 3000 }, (_, n) => `${word} ${n}`).join('\n')

test('lines that are gone come before those that are new, and the rest is kept', () => {
  expect(diffLines('a\nb\nc', 'a\nx\nc\nd').map(({ kind, line }) => `${kind} ${line}`)).toEqual([
    'kept a',
    'removed b',
    'added x',
    'kept c',
    'added d',
  ])
})

test('a line diff holds both texts, whatever they are', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '')).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (one, other) => {
      const changes = diffLines(one, other)
      const side = (without: string): string =>
        changes.flatMap(({ kind, line }) => (kind === without ? [] : [line])).join('\n')
      expect(side('added')).toBe(one)
      expect(side('removed')).toBe(other)
    }),
  )
})

test('texts that have nothing in common are told as one gone and one new', () => {
  expect(diffLines(numbered('one'), numbered('other'))).toHaveLength(6000)
})

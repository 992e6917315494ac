import { expect, test } from 'vitest'
import { allowsAlmostAnything } from './allowed-values.ts'
import { exactPattern } from './rule-set.ts'

test.each([
  /.+/,
  /./,
  /.*/s,
  /\S/,
  /\w/,
  /\w+/g,
  /[^]/,
  /^.{4,}$/,
  /[a-z]/i,
  /[a-z0-9]/,
  /\d/,
  /(?:)/,
  /^(?!x)/,
  /^[\w-]+$/,
  /^[A-Za-z0-9]+$/,
  /^[^ ]{8,}$/,
  /[aeiou]/i,
  /$/,
])('%s allows almost anything', (pattern) => {
  expect(allowsAlmostAnything([pattern])).toBe(true)
})

test.each([
  /^test-/,
  /example/i,
  /^[0-9a-f]{40}$/,
  /^[0-9a-f-]+$/,
  /^\d+$/,
  /^[a-z]+$/,
  /^ghp_0+$/,
  exactPattern('hunter2'),
  /^[0-9a-f]{8}-[0-9a-f]{4}-/,
  /@example\.com$/,
])('%s allows some values', (pattern) => {
  expect(allowsAlmostAnything([pattern])).toBe(false)
})

test('patterns that allow almost anything only together are recognised', () => {
  const parts = [/^[a-m]/, /^[n-z]/, /^[A-M]/, /^[N-Z]/, /^\d/]
  expect(parts.map((part) => allowsAlmostAnything([part]))).not.toContain(true)
  expect(allowsAlmostAnything(parts)).toBe(true)
})

import { expect, test } from 'vitest'
import { defaultRules, EMAIL_RULE } from './rules/index.ts'
import { whyPatternIsSlow } from './slow-patterns.ts'

test.each([
  /(?:a+)+b/,
  /(a*)*$/,
  /^(\w+\s?)*$/,
  /(?:x?x)+y/,
  /([\w.]+\.)+com/,
  /(?:(?:ab)?(?:ab)+)+c/,
  /token-(?:(?<part>[a-z]+)-?){2,}!/,
  /(?=(?:a+)+b)x/,
  /(?:(?:\d+|x))+y/,
])('%s is slow because of a repetition in a repetition', (pattern) => {
  expect(whyPatternIsSlow(pattern)).toMatch(/which repeats too, and nothing separates the repetitions$/)
})

test.each([/(?:a|a)*b/, /(\w|\d)+!/, /(?:[a-z]|é|\S)+ /, /(?:ab|a.)*c/, /(?:a|A)*b/i])(
  '%s is slow because of alternatives that match the same',
  (pattern) => {
    expect(whyPatternIsSlow(pattern)).toMatch(/can match the same text$/)
  },
)

test.each([
  /acme-\d{6}/,
  /(?:[a-z]+\.)+com/,
  /(?:\d{1,3}\.){3}\d{1,3}/,
  /^(?:[A-Z0-9]+ )*KEY/,
  /(?:a|b)+c/,
  /(?:ab|ac)+d/,
  /(?:[^"\\]|\\.)*"/,
  /(?:a+){2}b/,
  /[(a+)+]+\)\]/,
  /(?:a|A)*b/,
  /(.)\1+x/,
])('%s is not slow', (pattern) => {
  expect(whyPatternIsSlow(pattern)).toBeUndefined()
})

test('no default rule is slow', () => {
  for (const { pattern } of [...defaultRules(), EMAIL_RULE]) expect(whyPatternIsSlow(pattern)).toBeUndefined()
})

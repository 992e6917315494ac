import { expect, test } from 'vitest'
import { truncateAtWord } from './first-words.ts'

test.each([
  ['short enough', 'short enough'],
  ['the token is ghp_0123456789 now', 'the token is…'],
  ['ends right here and goes on', 'ends right here…'],
  ['0123456789012345678901234', '…'],
])('of %j whole words stay', (text, shown) => {
  expect(truncateAtWord(text, 15)).toBe(shown)
})

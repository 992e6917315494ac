import { expect, test } from 'vitest'
import { applyEdits } from './edit.ts'

test('what is put in before something that changes stands before it, whichever was named first', () => {
  const [put, change] = [
    { start: 1, end: 1, text: '<new>' },
    { start: 1, end: 2, text: 'B' },
  ]
  expect(applyEdits('abc', [put, change])).toBe('a<new>Bc')
  expect(applyEdits('abc', [change, put])).toBe('a<new>Bc')
})

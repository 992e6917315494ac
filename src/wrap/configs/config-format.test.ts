import { expect, test } from 'vitest'
import { applyConfigEdits } from './config-format.ts'

test('what is put in before something that changes stands before it, whichever was named first', () => {
  const [put, change] = [
    { start: 1, end: 1, text: '<new>' },
    { start: 1, end: 2, text: 'B' },
  ]
  expect(applyConfigEdits('abc', [put, change])).toBe('a<new>Bc')
  expect(applyConfigEdits('abc', [change, put])).toBe('a<new>Bc')
})

import { expect, test } from 'vitest'
import { RecordedValueNames } from './carried-values.ts'

test('live names give way to the recorded ones as whole words, the longest first', () => {
  const names = new RecordedValueNames()
  names.learn('order-a1b2c3', 'order-x9y8z7')
  names.learn('/work/old', '/work/new')
  names.learn('/work/old/notes', '/work/new/other')
  expect(names.restore('see order-x9y8z7, /work/new/other and /work/new.')).toBe(
    'see order-a1b2c3, /work/old/notes and /work/old.',
  )
  expect(names.restore('preorder-x9y8z7 order-x9y8z77 ðorder-x9y8z7')).toBe(
    'preorder-x9y8z7 order-x9y8z77 ðorder-x9y8z7',
  )
})

test('small numbers and names that are the same are left alone', () => {
  const names = new RecordedValueNames()
  names.learn('17', '42')
  names.learn('order-a1b2c3', 'order-a1b2c3')
  expect(names.restore('42 of order-a1b2c3')).toBe('42 of order-a1b2c3')
})

import { styleText } from 'node:util'
import { expect, test } from 'vitest'
import { wrapColumns } from './print.ts'

test('a line that is too long continues below its last column', () => {
  const text = 'Kinds:\n  delay  Handle the request later: a duration such as 250ms\n  error  Short\n'
  expect(wrapColumns(text, 40)).toBe(
    'Kinds:\n  delay  Handle the request later: a\n         duration such as 250ms\n  error  Short\n',
  )
})

test('a sentence without columns is wrapped at words', () => {
  expect(wrapColumns('note: the run was not repeated, because it writes', 30)).toBe(
    'note: the run was not\n  repeated, because it writes',
  )
})

test('a column that begins far to the right continues near the left margin', () => {
  expect(wrapColumns(`  ${'tool'.padEnd(24)}66 %  missing: Oslo, an error`, 40)).toBe(
    `  ${'tool'.padEnd(24)}66 %  missing:\n    Oslo, an error`,
  )
})

test('commands and words that are longer than a line are left alone', () => {
  const command = '  accept  reelay contract accept weather.contract.yaml 0a1b2c3d --reason expected'
  expect(wrapColumns(command, 40)).toBe(command)
  expect(wrapColumns('x'.repeat(50), 40)).toBe('x'.repeat(50))
})

test('colours take no room', () => {
  const styled = styleText('red', 'a short line of forty characters or less', { validateStream: false })
  expect(wrapColumns(styled, 40)).toBe(styled)
})

import { expect, test } from 'vitest'
import { ReelayError } from '../../errors.ts'
import type { HeaderArg } from './read-record-options.ts'
import { readHeaderOption, readHeaderArgs } from './value-readers.ts'

const ENV = { TOKEN: 'abc', EMPTY: '', BAD: 'a\nb' }

test('a header is read with its variables, wherever they stand in the value', () => {
  expect(readHeaderOption('Authorization: Bearer ${env.TOKEN}', ENV)).toEqual({
    name: 'Authorization',
    value: 'Bearer abc',
  })
  expect(readHeaderOption('X-Key:${env.TOKEN}-${env.TOKEN}', ENV)).toEqual({
    name: 'X-Key',
    value: 'abc-abc',
  })
  expect(readHeaderOption('X-Plain: a: b ${TOKEN}', ENV)).toEqual({ name: 'X-Plain', value: 'a: b ${TOKEN}' })
})

test.each([
  ['Authorization: Bearer ${env.NONE}', 'needs NONE'],
  ['Authorization: ${env.EMPTY}', 'needs EMPTY'],
  ['no colon s3cret', 'not of the form'],
  ['bad name: s3cret', 'not of the form'],
  [': s3cret', 'not of the form'],
  ['Host: s3cret', 'cannot set Host'],
  ['content-length: 7', 'cannot set content-length'],
  ['X-Bad: ${env.BAD}', 'no header can have'],
  ['X-None:', 'has no value'],
])('%s is refused, and its value is not shown', (text, why) => {
  const refused = (): unknown => readHeaderOption(text, ENV)
  expect(refused).toThrow(why)
  expect(refused).not.toThrow('s3cret')
  expect(refused).toThrow(ReelayError)
})

const from = (variable: string, mayBeMissing = false): HeaderArg => ({
  kind: 'variable',
  name: 'X-Key',
  variable,
  mayBeMissing,
})

test('a header from a variable: empty where it is empty, left out where it may be missing, and refused where it must not', () => {
  expect(readHeaderArgs([from('TOKEN'), from('EMPTY')], ENV)).toEqual([
    { name: 'X-Key', value: 'abc' },
    { name: 'X-Key', value: '' },
  ])
  expect(readHeaderArgs([from('EMPTY', true), from('NONE', true), from('TOKEN', true)], ENV)).toEqual([
    { name: 'X-Key', value: 'abc' },
  ])
  expect(() => readHeaderArgs([from('NONE')], ENV)).toThrow('needs NONE')
  expect(() => readHeaderArgs([from('BAD', true)], ENV)).toThrow('no header can have')
})

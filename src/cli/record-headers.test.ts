import { expect, test } from 'vitest'
import { ReelayError } from '../errors.ts'
import { readHeader } from './record-headers.ts'

const ENV = { TOKEN: 'abc', EMPTY: '', BAD: 'a\nb' }

test('a header is read with its variables, wherever they stand in the value', () => {
  expect(readHeader('Authorization: Bearer ${env.TOKEN}', ENV)).toEqual({
    name: 'Authorization',
    value: 'Bearer abc',
  })
  expect(readHeader('X-Key:${env.TOKEN}-${env.TOKEN}', ENV)).toEqual({ name: 'X-Key', value: 'abc-abc' })
  expect(readHeader('X-Plain: a: b ${TOKEN}', ENV)).toEqual({ name: 'X-Plain', value: 'a: b ${TOKEN}' })
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
  const refused = (): unknown => readHeader(text, ENV)
  expect(refused).toThrow(why)
  expect(refused).not.toThrow('s3cret')
  expect(refused).toThrow(ReelayError)
})

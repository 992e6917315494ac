import { expect, test } from 'vitest'
import { ReelayError } from '../../errors.ts'
import { headerValue, headerFromVariable } from './option-types.ts'

const ENV = { TOKEN: 'abc', EMPTY: '', BAD: 'a\nb' }

test('a header is read with its variables, wherever they stand in the value', () => {
  expect(headerValue.parse('Authorization: Bearer ${env.TOKEN}', ENV)).toEqual({
    name: 'Authorization',
    value: 'Bearer abc',
  })
  expect(headerValue.parse('X-Key:${env.TOKEN}-${env.TOKEN}', ENV)).toEqual({
    name: 'X-Key',
    value: 'abc-abc',
  })
  expect(headerValue.parse('X-Plain: a: b ${TOKEN}', ENV)).toEqual({
    name: 'X-Plain',
    value: 'a: b ${TOKEN}',
  })
})

test.each([
  ['Authorization: Bearer ${env.NONE}', 'needs NONE'],
  ['Authorization: ${env.EMPTY}', 'needs EMPTY'],
  ['no colon s3cret', 'expected "Name: value"'],
  ['bad name: s3cret', 'expected "Name: value"'],
  [': s3cret', 'expected "Name: value"'],
  ['Host: s3cret', 'cannot set Host'],
  ['content-length: 7', 'cannot set content-length'],
  ['X-Bad: ${env.BAD}', 'characters that a header cannot hold'],
  ['X-None:', 'has no value'],
])('%s is refused, and its value is not shown', (text, why) => {
  const refused = (): unknown => headerValue.parse(text, ENV)
  expect(refused).toThrow(why)
  expect(refused).not.toThrow('s3cret')
  expect(refused).toThrow(ReelayError)
})

test('a header from a variable: empty where it is empty, left out where it may be missing, and refused where it must not', () => {
  expect([read('X-Key=TOKEN'), read('X-Key=EMPTY')]).toEqual([
    [{ name: 'X-Key', value: 'abc' }],
    [{ name: 'X-Key', value: '' }],
  ])
  expect([read('X-Key=EMPTY?'), read('X-Key=NONE?'), read('X-Key=TOKEN?')]).toEqual([
    [],
    [],
    [{ name: 'X-Key', value: 'abc' }],
  ])
  expect(() => read('X-Key=NONE')).toThrow('needs NONE')
  expect(() => read('X-Key=BAD?')).toThrow('characters that a header cannot hold')
})

function read(text: string): unknown {
  return headerFromVariable.parse(text, ENV)
}

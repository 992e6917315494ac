import fc from 'fast-check'
import { expect, test } from 'vitest'
import { markAsLive } from './passthrough.ts'

test.each([
  ['{"id":1,"result":{}}', '{"id":1,"result":{"_meta":{"reelay/live":true}}}'],
  ['{"result":{"n":1.0},"id":1}', '{"result":{"_meta":{"reelay/live":true},"n":1.0},"id":1}'],
  ['{"result":{"_meta":{ }}}', '{"result":{"_meta":{"reelay/live":true }}}'],
  ['{"result":{"_meta":{"a":1}}}', '{"result":{"_meta":{"reelay/live":true,"a":1}}}'],
  ['{"result":{"_meta":null}}', '{"result":{"_meta":null}}'],
  ['{"result":[1]}', '{"result":[1]}'],
  ['{"error":{"code":1}}', '{"error":{"code":1}}'],
])('the mark goes where there is room for it: %s', (text, marked) => {
  expect(markAsLive(text)).toBe(marked)
})

test('whatever a result holds, the mark is all that is added to it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (result) => {
      const { _meta: _, ...plain } = result
      expect(JSON.parse(markAsLive(JSON.stringify({ id: 1, result: plain })))).toEqual(
        JSON.parse(JSON.stringify({ id: 1, result: { ...plain, _meta: { 'reelay/live': true } } })),
      )
    }),
  )
})

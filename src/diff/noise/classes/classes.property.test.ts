import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { inferClass, readClass } from './index.ts'
import type { ValueClass } from './value-class.ts'

const word = fc.constantFrom('alpha', 'beta', 'run', 'é', '12', '-', ':', ' ', '\n', 'ms', 'a_b', '0x1f')
const moment = fc.date({ noInvalidDate: true, min: new Date('2000'), max: new Date('2050') })
const leaf = fc.oneof(
  fc.uuid(),
  moment.map((at) => at.toISOString()),
  moment.map((at) => at.getTime()),
  fc.constantFrom('12:30', '9:05:01', '2026-11-17', 'Tue, 17 Nov 2026 10:00:00 GMT'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer().map(String),
  fc.boolean(),
  fc.constant(null),
  fc.string(),
  fc.array(word, { maxLength: 12 }).map((words) => words.join('')),
  fc.tuple(fc.nat(999), word).map(([n, unit]) => `took ${n} ${unit} in all`),
  fc.nat(99).map((n) => `id-${n}`),
)
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'a b'), fc.string()), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value
/** Mostly values of one kind, as a noisy place has them. */
const samples = fc.oneof(
  fc.array(value, { minLength: 1, maxLength: 6 }),
  fc.array(leaf, { minLength: 2, maxLength: 6 }),
  fc.array(
    fc.nat(99).map((n) => `took ${n} ms in all`),
    { minLength: 2, maxLength: 6 },
  ),
  fc.array(fc.record({ id: fc.uuid(), n: fc.nat() }, { requiredKeys: ['id'] }), {
    minLength: 2,
    maxLength: 5,
  }),
)

function written(one: ValueClass): ValueClass {
  const text = stringify(one.written, { lineWidth: 0, blockQuote: false })
  return readClass(parse(text), (path, why) => new Error(`${path.join('.')} ${why}`))
}

test('a class that is written to a profile and read again is the same, and accepts the same values, unless it counts', () => {
  fc.assert(
    fc.property(samples, fc.array(value, { maxLength: 10 }), (seen, others) => {
      const learned = inferClass(seen)
      const read = written(learned)
      expect(read.written).toEqual(learned.written)
      expect(read.text).toBe(learned.text)
      const counts = JSON.stringify(learned.written).includes('"counter"')
      for (const one of [...seen, ...others])
        for (const isRecorded of [true, false])
          expect([
            learned.accepts(one, { isRecorded }),
            ...(counts ? [true] : []), // may accept more
          ]).toContain(read.accepts(one, { isRecorded }))
    }),
    { numRuns: 100 },
  )
})

test('a counter of a profile may have gone on, or begun again, but stays a counter', () => {
  const counter = written(inferClass([41, 42, 43, 45, 46]))
  expect(counter.text).toBe('counter from 41')
  expect([1, 47, 90_000].every((count) => counter.accepts(count, { isRecorded: false }))).toBe(true)
  expect([-1, 1.5, '47', null].some((other) => counter.accepts(other, { isRecorded: false }))).toBe(false)
})

test('every sample fits the class that is learned from the samples', () => {
  fc.assert(
    fc.property(samples, (seen) => {
      const learned = inferClass(seen)
      for (const one of seen) expect(learned.accepts(one, { isRecorded: true })).toBe(true)
    }),
    { numRuns: 100 },
  )
})

test.each([
  ['text', 'is not a class such as { is: uuid, versions: ["4"] }'],
  [{ is: 'regex', pattern: '(a+)+' }, 'is is not one of uuid, time, counter, number, choice'],
  [{ is: 'number', from: 1 }, 'to is not a number'],
  [{ is: 'number', from: 1, to: 2, step: 3 }, 'step is unknown'],
  [{ is: 'list', items: { is: 'id', alphabet: 'any' } }, 'items.alphabet is not one of 0-9; 0-9a-f'],
  [{ is: 'time', form: '0000', from: 'soon', to: 'later' }, 'from is not a point in time'],
])('the written class %j is rejected with its place', (wrong, why) => {
  const read = (): unknown =>
    readClass(wrong, (path, reason) => new Error([path.join('.'), reason].filter(Boolean).join(' ')))
  expect(read).toThrow(why)
})

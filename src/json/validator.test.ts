import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonValidator } from './validator.ts'
import { cases } from '../../test/support/cases.ts'

const encoder = new TextEncoder()

function accepts(bytes: Uint8Array, cuts: readonly number[] = []): boolean {
  const check = new JsonValidator()
  const stops = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
  for (let index = 1; index < stops.length; index++) check.feed(bytes, stops[index - 1]!, stops[index]!)
  return check.isComplete()
}

function isObjectOrArray(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}

const objectOrArray = fc.oneof(fc.object({ maxDepth: 4 }), fc.array(fc.jsonValue()))

test('every JSON object and array is accepted, wherever the chunks are cut', () => {
  fc.assert(
    fc.property(objectOrArray, fc.array(fc.nat(400)), fc.boolean(), (value, cuts, pretty) => {
      const text = JSON.stringify(value, null, pretty ? 2 : undefined)
      expect(accepts(encoder.encode(text), cuts)).toBe(isObjectOrArray(text))
    }),
  )
})

test('bytes with one byte changed, removed or added are judged as by JSON.parse', () => {
  fc.assert(
    fc.property(
      objectOrArray,
      fc.nat(),
      fc.nat(126),
      fc.constantFrom('set', 'drop', 'add'),
      (value, place, byte, how) => {
        const bytes = [...encoder.encode(JSON.stringify(value))].filter((each) => each < 128)
        bytes.splice(place % (bytes.length + 1), how === 'add' ? 0 : 1, ...(how === 'drop' ? [] : [byte]))
        const broken = Uint8Array.from(bytes)
        expect(accepts(broken)).toBe(isObjectOrArray(new TextDecoder().decode(broken)))
      },
    ),
    cases(1000),
  )
})

test('random bytes of the JSON alphabet are judged as by JSON.parse', () => {
  const soup = fc.array(fc.constantFrom(...'{}[]:,"\\ \t0123456789-+.eEtrufalsn'.split('')), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(soup, (letters) => {
      const text = `[${letters.join('')}]`
      expect(accepts(encoder.encode(text))).toBe(isObjectOrArray(text))
    }),
    cases(5000),
  )
})

test.each([
  ['a raw tab in a long string', `{"a":"${'x'.repeat(900)}\t${'x'.repeat(900)}"}`],
  ['a bad escape in a long string', `{"a":"${'x'.repeat(900)}\\q${'x'.repeat(900)}"}`],
  ['an escaped quote in a long string', `{"a":"${'x'.repeat(901)}\\"${'x'.repeat(902)}"}`],
  ...[256, 257, 258, 259].map((plain): [string, string] => [
    `an escape after ${plain} plain characters`,
    `{"a":"${'x'.repeat(plain)}\\n"}`,
  ]),
  ['an unfinished long string', `{"a":"${'x'.repeat(900)}`],
  ['letters outside ASCII in a long string', `{"a":"${'é€𝄞'.repeat(200)}"}`],
  ['a delete character, which JSON allows', `{"a":"${'x'.repeat(99)}\u007f"}`],
  ['a number alone', '42'],
  ['two values', '{}{}'],
  ['nothing', ''],
  ['only spaces', '   '],
  ['a carriage return at the end', '{"a":1}\r'],
  ['numbers of every spelling', '[0,-0,1.0,1e5,1E+5,1.5e-10,12345678901234567890]'],
])('%s is judged as by JSON.parse, at every alignment', (_, text) => {
  for (let shift = 0; shift < 8; shift++) {
    const padded = encoder.encode(' '.repeat(shift) + text)
    expect(accepts(padded.subarray(shift))).toBe(isObjectOrArray(text))
  }
})

test('a string may end directly after a long run, at any alignment', () => {
  for (let length = 254; length < 266; length++) {
    const bytes = encoder.encode(`${' '.repeat(8)}{"a":"${'x'.repeat(length)}"}`)
    for (let shift = 0; shift < 8; shift++) expect(accepts(bytes.subarray(shift))).toBe(true)
  }
})

test('JSON may be nested a hundred thousand levels deep', () => {
  expect(accepts(encoder.encode('['.repeat(100_000) + ']'.repeat(100_000)))).toBe(true)
  expect(accepts(encoder.encode('['.repeat(100_000) + ']'.repeat(99_999)))).toBe(false)
})

test('a validator can be reused, also after an invalid text', () => {
  const check = new JsonValidator()
  const judge = (text: string): boolean => {
    check.reset()
    check.feed(encoder.encode(text), 0, text.length)
    return check.isComplete()
  }
  expect(['{"a":[1]}', '{"a', '{"b":2}', '[}', '[]'].map(judge)).toEqual([true, false, true, false, true])
})

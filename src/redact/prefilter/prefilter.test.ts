import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toByteString, PrefilterTables } from './prefilter.ts'
import { SecretPrefilter } from './prefilter.ts'
import { NAME, NAME_ENDING } from './pattern-kinds.ts'

const pattern = fc.string({ minLength: 3, maxLength: 40 })
const around = fc.string({ maxLength: 60 })
const encoder = new TextEncoder()

test('a text that holds a pattern is stopped, wherever the pattern and the text stand', () => {
  fc.assert(
    fc.property(
      fc.array(pattern, { minLength: 1, maxLength: 5 }),
      around,
      around,
      fc.nat(3),
      (texts, before, after, shift) => {
        const gate = new SecretPrefilter(new PrefilterTables())
        for (const text of texts) gate.add(toByteString(text), { isAnyCase: false })
        const bytes = encoder.encode(`${'#'.repeat(shift)}${before}${texts[0]}${after}`)
        expect(gate.mayMatch(bytes.subarray(shift))).toBe(true)
        expect(gate.mayMatch(bytes, shift, bytes.length)).toBe(true)
      },
    ),
  )
})

test('a text that holds no pattern passes', () => {
  fc.assert(
    fc.property(pattern, around, (text, other) => {
      fc.pre(!other.includes(text.slice(0, 8)))
      const gate = new SecretPrefilter(new PrefilterTables())
      gate.add(toByteString(text), { isAnyCase: false })
      expect(gate.mayMatch(encoder.encode(other))).toBe(false)
    }),
  )
})

test('case matters only where it should', () => {
  const gate = new SecretPrefilter(new PrefilterTables())
  gate.add('Bearer ', { isAnyCase: true })
  gate.add('AKIA', { isAnyCase: false })
  const stopped = ['xbearer y', 'xBEARER y', 'xAKIAy', 'xakiay', 'bear'].filter((text) =>
    gate.mayMatch(encoder.encode(text)),
  )
  expect(stopped).toEqual(['xbearer y', 'xBEARER y', 'xAKIAy'])
})

test('a pattern of one character is found, and one of two opens the gate for everything', () => {
  const gate = new SecretPrefilter(new PrefilterTables())
  gate.add('@', { isAnyCase: false })
  expect([gate.mayMatch(encoder.encode('abc@d')), gate.mayMatch(encoder.encode('abcd'))]).toEqual([
    true,
    false,
  ])
  gate.add('xy', { isAnyCase: false })
  expect(gate.mayMatch(encoder.encode('abcd'))).toBe(true)
})

test('a name counts only if it ends where it must, however random the words after it are', () => {
  const gate = new SecretPrefilter(new PrefilterTables())
  gate.add('pwd', NAME_ENDING)
  gate.add('token', NAME)
  const texts = ['the pwd is Tr0ub4dor3', 'bipwdkry Tr0ub4dor3', `token${'y'.repeat(80)} Tr0ub4dor3`]
  expect(texts.map((text) => gate.mayMatch(encoder.encode(text)))).toEqual([true, false, false])
})

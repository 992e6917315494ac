import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesIn } from './gate-entry.ts'
import { Gate } from './gate.ts'
import { GateTables } from './gate-tables.ts'

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
        const gate = new Gate(new GateTables())
        for (const text of texts) gate.add(bytesIn(text), { isAnyCase: false })
        const bytes = encoder.encode(`${'#'.repeat(shift)}${before}${texts[0]}${after}`)
        expect(gate.stops(bytes.subarray(shift))).toBe(true)
        expect(gate.stops(bytes, shift, bytes.length)).toBe(true)
      },
    ),
  )
})

test('a text that holds no pattern passes', () => {
  fc.assert(
    fc.property(pattern, around, (text, other) => {
      fc.pre(!other.includes(text.slice(0, 8)))
      const gate = new Gate(new GateTables())
      gate.add(bytesIn(text), { isAnyCase: false })
      expect(gate.stops(encoder.encode(other))).toBe(false)
    }),
  )
})

test('case matters only where it should', () => {
  const gate = new Gate(new GateTables())
  gate.add('Bearer ', { isAnyCase: true })
  gate.add('AKIA', { isAnyCase: false })
  const stopped = ['xbearer y', 'xBEARER y', 'xAKIAy', 'xakiay', 'bear'].filter((text) =>
    gate.stops(encoder.encode(text)),
  )
  expect(stopped).toEqual(['xbearer y', 'xBEARER y', 'xAKIAy'])
})

test('a pattern of one character is found, and one of two opens the gate for everything', () => {
  const gate = new Gate(new GateTables())
  gate.add('@', { isAnyCase: false })
  expect([gate.stops(encoder.encode('abc@d')), gate.stops(encoder.encode('abcd'))]).toEqual([true, false])
  gate.add('xy', { isAnyCase: false })
  expect(gate.stops(encoder.encode('abcd'))).toBe(true)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../test/support/cases.ts'
import { encodeFrame, parseRecordedLine } from './codec.ts'
import type { FrameOrigin } from './frame.ts'
import { LinePrefixScanner } from './line-prefix.ts'

const origin: fc.Arbitrary<FrameOrigin> = fc
  .record({
    n: fc.integer({ min: 1 }),
    t: fc.double({ min: 0, max: 1e9, noNaN: true }),
    server: fc.oneof(fc.constantFrom('demo', 'a"b', 'é', ''), fc.string()),
    conn: fc.integer({ min: 1 }),
    dir: fc.constantFrom('c2s', 's2c'),
    x: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
  })
  .map(({ x, ...rest }) => ({ ...rest, ...(x !== undefined && { x }) }))
const sse = fc.constantFrom({}, { sse: { id: 'e1', retry: 5 } }, { sse: { event: '"}' } })
const line = fc.tuple(origin, sse).map(([at, event]) => {
  const text = '{"jsonrpc":"2.0","method":"a"}'
  const message = { kind: 'notification', method: 'a', params: undefined } as const
  return encodeFrame({ kind: 'message', ...at, ...event, text, message })
})
// A line in which one character is missing, doubled or replaced.
const damaged = fc.tuple(line, fc.nat(), fc.constantFrom('', '0', '"', ' ', ',')).map(([text, at, char]) => {
  const position = at % text.length
  return text.slice(0, position) + char + text.slice(position + 1)
})

test('lines that are read by their bytes have the same beginning when they are read as text', () => {
  const scanner = new LinePrefixScanner()
  fc.assert(
    fc.property(fc.oneof(line, damaged), (text) => {
      const bytes = new TextEncoder().encode(text)
      const prefix = scanner.read(bytes, 0)
      fc.pre(prefix?.payload === 'msg' && text.endsWith('}'))
      const { payload: _, payloadStart, x, sse: fields, ...place } = prefix
      const found = parseRecordedLine(text)
      expect(found?.origin).toEqual({ ...place, ...(x !== undefined && { x }) })
      expect(found?.sse.sse).toEqual(fields)
      expect(found?.text).toBe(new TextDecoder().decode(bytes.subarray(payloadStart, -1)))
    }),
    cases(1000),
  )
})

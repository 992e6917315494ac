import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../../test/support/cases.ts'
import { parseFilter } from '../../filter/filter.ts'
import { Interceptor } from '../intercept/interceptor.ts'
import { InterceptedLines } from './intercepted-lines.ts'

const LONG = 'x'.repeat(500)
const PASSING = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"nothing"}}}',
  `{"method":"tools/call","params":{"name":"echo","arguments":{"text":"${LONG}"}},"jsonrpc":"2.0","id":2}`,
  `{"method":"tools/call","params":{"name":"echo","arguments":"${LONG}"},"jsonrpc":"2.0","id":"a\\"b"}`,
  `{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"${LONG}"}}`,
  `{"jsonrpc":"2.0","id":3,"result":{"text":"${LONG} nothing"}}`,
  `{"result":{"text":"\\u006eothing"},"jsonrpc":"2.0","id":4}`,
  'not JSON',
  '',
]
const HELD = [
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nothing"}}',
  `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"arguments":{"text":"${LONG}"},"name":"nothing"}}`,
  '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\u006eothing"}}',
  '{"id":8,"jsonrpc":"2.0","params":{"name":"nothing"},"method":"tools/call"}',
]

test('however the chunks are cut, the same lines are held, the others keep their bytes, and all requests are counted', () => {
  const line = fc.record({
    text: fc.constantFrom(...PASSING, ...HELD),
    end: fc.constantFrom('\n', '\r\n'),
  })
  const cuts = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 })
  fc.assert(
    fc.property(fc.array(line), cuts, fc.constantFrom('', 'the end'), (lines, lengths, rest) => {
      const bytes = Buffer.from(lines.map(({ text, end }) => text + end).join('') + rest)
      const { forwarded, held, requests } = passThrough(bytes, lengths)
      expect(held).toEqual(lines.map(({ text }) => text).filter(isHeld))
      const passing = lines.filter(({ text }) => !isHeld(text))
      expect(forwarded).toBe(passing.map(({ text, end }) => text + end).join('') + rest)
      expect(requests).toBe(lines.filter(({ text }) => /"method":.*"id":|"id":.*"method":/.test(text)).length)
    }),
    cases(200),
  )
})

test('a long line that cannot be held is forwarded as it arrives', () => {
  const start = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"'
  expect(passThrough(Buffer.from(start + LONG), [200]).chunks).toEqual([
    200,
    200,
    start.length + LONG.length - 400,
  ])
})

function isHeld(text: string): boolean {
  return HELD.includes(text)
}

/** Passes bytes in chunks of these lengths. What is held is dropped at once. */
function passThrough(
  bytes: Buffer,
  lengths: readonly number[],
): {
  readonly forwarded: string
  readonly chunks: readonly number[]
  readonly held: readonly string[]
  readonly requests: number | undefined
} {
  const interceptor = new Interceptor({
    filter: parseFilter('tool:nothing kind:request'),
    holdLimitMs: 1000,
    onLimit: 'forward',
  })
  const parts: Buffer[] = []
  const held: string[] = []
  const lines = new InterceptedLines({
    dir: 'c2s',
    link: interceptor.link({ server: 'a', conn: () => 1 }),
    recorder: { pass: (_, handOn) => handOn(), end: () => {} },
    route: {
      deliver: () => {},
      drop: () => {},
      record: (_, text) => held.push(text),
      event: () => {},
    },
  })
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const chunk = bytes.subarray(at, at + lengths[turn % lengths.length]!)
    lines.pass(chunk, (other = chunk) => parts.push(Buffer.from(other)))
    for (const each of interceptor.list()) each.drop({ by: 'test' })
    at += chunk.length
  }
  const chunks = parts.map(({ length }) => length)
  lines.end((other) => other && parts.push(Buffer.from(other)))
  interceptor.close()
  return {
    forwarded: Buffer.concat(parts).toString(),
    chunks,
    held,
    requests: interceptor.stats['requests'],
  }
}

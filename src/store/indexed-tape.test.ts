import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Turn, Spoken } from '../tape/turn.ts'
import { openIndexedTape } from './indexed-tape.ts'
import { loadTape } from './read.ts'

const HEADER = JSON.stringify({
  reelay: 1,
  id: 'x',
  started: '2026-11-15T00:00:00.000Z',
  by: 'a test',
  servers: { a: { transport: 'stdio' } },
  tags: {},
})

const id = fc.oneof(fc.nat(3), fc.nat(3).map(String), fc.constant('é"\\'))
const x = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined })
const meta = fc.record(
  {
    progressToken: id,
    'io.modelcontextprotocol/protocolVersion': fc.constant('2026-07-28'),
    'io.modelcontextprotocol/subscriptionId': id,
  },
  { requiredKeys: [] },
)
const params = fc.option(
  fc.record(
    { a: fc.nat(2), progressToken: id, requestId: id, _meta: meta, text: fc.string() },
    { requiredKeys: [] },
  ),
  { nil: undefined },
)
const method = fc.constantFrom(
  'tools/call',
  'ping',
  'initialize',
  'subscriptions/listen',
  'notifications/progress',
  'notifications/cancelled',
  'notifications/message',
)
const call = fc.record({ id, method, params })
const notice = fc.record({ method, params })
const answer = fc.oneof(
  fc.record({ id, result: fc.jsonValue() }),
  fc.record({ result: fc.jsonValue(), id }),
  fc.record({
    id: fc.oneof(id, fc.constant(null)),
    error: fc.record({ code: fc.integer(), message: fc.string() }),
  }),
)
const message = fc.oneof(call, notice, answer, answer).map((one) => ({ jsonrpc: '2.0', ...one }))
const odd = fc.constantFrom(
  '{"jsonrpc":"2.0","id":1,"result":{},"id":2}',
  '{"jsonrpc":"2.0","id":1.0,"result":{}}',
  '{"jsonrpc":"2.0","\\u0069d":1,"result":{}}',
  '{"jsonrpc":"1.0","id":1,"result":{}}',
  '{"id":1,"result":{}}',
  ' { "jsonrpc" : "2.0" , "id" : 1 , "result" : [ { } , "}" ] } ',
  '{"jsonrpc":"2.0","id":1,"result":{]}',
  '{"jsonrpc":"2.0","id":1,"result":{"a":"\\q"}}',
  '{"jsonrpc":"2.0","id":1,"result":{}}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}',
  '[]',
  '17',
  '{"jsonrpc":"2.0","id":1,"method":"x",}',
)
const text = fc.oneof(
  { weight: 10, arbitrary: message.map((one) => JSON.stringify(one)) },
  { weight: 2, arbitrary: fc.array(message, { maxLength: 3 }).map((all) => JSON.stringify(all)) },
  { weight: 2, arbitrary: odd },
)
const frame = fc
  .record({
    server: fc.constantFrom('a', 'a', 'a', 'a', 'b', 'ü'),
    conn: fc.integer({ min: 1, max: 2 }),
    x,
    dir: fc.constantFrom('c2s', 's2c'),
    text,
    sse: fc.constantFrom('', '', '', ',"sse":{"id":"1}"}', ',"sse":{"event":"message","retry":3}'),
  })
  .map(
    (one) => (n: number) =>
      `{"n":${n},"t":${n}.5,"server":"${one.server}","conn":${one.conn}${one.x === undefined ? '' : `,"x":${one.x}`},"dir":"${one.dir}"${one.sse},"msg":${one.text}}`,
  )
const other = fc.constantFrom<(n: number) => string>(
  (n) => `{"n":${n},"t":1,"server":"a","conn":1,"dir":"s2c","stderr":"s"}`,
  (n) => `{"n":${n},"t":1,"server":"c","event":"server","transport":"http","url":"http://127.0.0.1/mcp"}`,
  (n) => `{"n":${n},"t":1,"event":"end","frames":${n}}`,
  (n) => `{"n":${n},"t":01,"server":"a","conn":1,"dir":"c2s","msg":{}}`,
  (n) => `{"dir":"c2s","conn":1,"server":"a","msg":{"jsonrpc":"2.0","id":1,"method":"ping"},"t":1,"n":${n}}`,
  () => '{"n":1,"t":1,"server":"a","conn":1,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}\r',
  () => '',
  () => 'no JSON',
  () => '\uD800',
)
const line = fc.oneof({ weight: 8, arbitrary: frame }, { weight: 1, arbitrary: other })

test('turns that are read one by one are those of the whole tape, whatever stands on it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-index-'))
  const path = join(folder, 'any.tape.jsonl')
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', ''), async (lines, end) => {
        const written = [HEADER, ...lines.map((one, index) => one(index + 1))].join('\n') + end
        writeFileSync(path, written)
        const whole = await loadTape(path)
        const indexed = await openIndexedTape(path)
        try {
          expect([...indexed.turns].map(plain)).toEqual(whole.turns.map(plain))
          expect(indexed.turns.size).toBe(whole.turns.length)
          const { header, ended, problems } = whole
          expect(indexed).toMatchObject({ header, ended, problems })
        } finally {
          indexed.close()
        }
      }),
      { numRuns: 1000 },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 60_000)

function plain({ trigger, steps, response }: Turn): unknown {
  return {
    trigger: spoken(trigger),
    response: spoken(response),
    steps: steps.map((step) =>
      step.kind === 'ask'
        ? { kind: step.kind, request: spoken(step.request), answer: spoken(step.answer) }
        : { kind: step.kind, message: spoken(step.message) },
    ),
  }
}

function spoken(one: Spoken | undefined): unknown {
  if (one === undefined) return undefined
  const { n, t, server, conn, x: exchange, dir, text: said, message: read, item } = one
  return { n, t, server, conn, exchange, dir, said, read, item }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import {
  clientCallOf,
  turnStoreOf,
  type TurnSummary,
  type TurnStore,
  type RecordedMessage,
  type Turn,
} from '../../tape/turns.ts'
import { openIndexedTape, type IndexedTape } from './indexed-tape.ts'
import { loadTape, type Tape } from '../file/read.ts'
import { cases } from '../../../test/support/cases.ts'

const HEADER = JSON.stringify({
  reelay: 1,
  id: 'x',
  started: '2026-11-15T00:00:00.000Z',
  by: 'a test',
  servers: { a: { transport: 'stdio' } },
  tags: {},
})

const id = fc.oneof(fc.nat(3), fc.nat(3).map(String), fc.constant('é"\\'))
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
const request = fc.record({ id, method, params })
const notice = fc.record({ method, params })
const reply = fc.oneof(
  fc.record({ id, result: fc.jsonValue() }),
  fc.record({ result: fc.jsonValue(), id }),
  fc.record({
    id: fc.oneof(id, fc.constant(null)),
    error: fc.record({ code: fc.integer(), message: fc.string() }),
  }),
)
const message = fc.oneof(request, notice, reply, reply).map((one) => ({ jsonrpc: '2.0', ...one }))
const odd = fc.constantFrom(
  '{"jsonrpc":"2.0","id":1.0,"result":{}}',
  '{"jsonrpc":"2.0","\\u0069d":1,"result":{}}',
  '{"jsonrpc":"1.0","id":1,"result":{}}',
  '{"id":1,"result":{}}',
  ' { "jsonrpc" : "2.0" , "id" : 1 , "result" : [ { } , "}" ] } ',
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
const other = fc.constantFrom<(n: number) => string>(
  (n) => `{"n":${n},"t":1,"server":"a","conn":1,"dir":"s2c","stderr":"s"}`,
  (n) => `{"n":${n},"t":1,"server":"c","event":"server","transport":"http","url":"http://127.0.0.1/mcp"}`,
  (n) => `{"n":${n},"t":1,"event":"end","frames":${n}}`,
  (n) => `{"n":${n},"t":01,"server":"a","conn":1,"dir":"c2s","msg":{}}`,
  (n) => `{"dir":"c2s","conn":1,"server":"a","msg":{"jsonrpc":"2.0","id":1,"method":"ping"},"t":1,"n":${n}}`,
  () => '{"n":1,"t":1,"server":"a","conn":1,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}\r',
  () => '',
  () => 'no JSON',
)
const line = lineWith(text)

function lineWith(json: fc.Arbitrary<string>): fc.Arbitrary<(n: number) => string> {
  const frame = fc
    .record({
      server: fc.constantFrom('a', 'a', 'a', 'a', 'b', 'ü'),
      conn: fc.integer({ min: 1, max: 2 }),
      x: fc.constantFrom('', '', ',"x":1', ',"x":2'),
      dir: fc.constantFrom('c2s', 's2c'),
      sse: fc.constantFrom('', '', '', ',"sse":{"id":"1}"}', ',"sse":{"event":"message","retry":3}'),
      json,
    })
    .map((one) => (n: number) => {
      const place = `"server":"${one.server}","conn":${one.conn}${one.x},"dir":"${one.dir}"${one.sse}`
      return `{"n":${n},"t":${n}.5,${place},"msg":${one.json}}`
    })
  return fc.oneof({ weight: 8, arbitrary: frame }, { weight: 1, arbitrary: other })
}

test('turns read one by one are those of the whole tape, with a new index and with one from a file', () =>
  fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
      writeTape(lines, '\n')
      const whole = shown(await loadTape(PATH))
      expect(await shownByIndex()).toEqual(whole)
      expect(await shownByIndex()).toEqual(whole)
    }),
    cases(100),
  ))

test.each([
  ['no JSON', '{"jsonrpc":"2.0","id":1,"result":{]}'],
  ['no JSON inside', '{"jsonrpc":"2.0","id":1,"result":{"a":"\\q"}}'],
  ['closed too often', '{"jsonrpc":"2.0","id":1,"result":{}}}'],
  ['under another id in the end', '{"jsonrpc":"2.0","id":1,"result":{},"id":2}'],
])('a response that is %s belongs to no request', async (_, json) => {
  const call = '"server":"a","conn":1,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}'
  const answer = `"server":"a","conn":1,"dir":"s2c","msg":${json}}`
  writeTape([() => `{"n":1,"t":1,${call}`, () => `{"n":2,"t":2,${answer}`], '\n')
  const tape = await openIndexedTape(PATH, { smallBytes: 0 })
  expect(tape.turns.at(0)).toBeUndefined()
  tape.close()
})

const FOLDER = mkdtempSync(join(tmpdir(), 'reelay-index-'))
const PATH = join(FOLDER, 'any.tape.jsonl')
afterAll(() => rmSync(FOLDER, { recursive: true }))

function writeTape(lines: readonly ((n: number) => string)[], end: string): void {
  rmSync(`${PATH}.idx`, { force: true })
  writeFileSync(PATH, [HEADER, ...lines.map((one, index) => one(index + 1))].join('\n') + end)
}

async function shownByIndex(): Promise<unknown> {
  const tape = await openIndexedTape(PATH, { smallBytes: 0 })
  try {
    return shown(tape)
  } finally {
    tape.close()
  }
}

function shown({ turns, header, ended, problems }: Tape | IndexedTape): unknown {
  const store = turnStoreOf(turns)
  const read = [...store].map(plain)
  return { header, ended, problems, turns: read, summaries: summaries(store), kinds: store.kinds() }
}

function summaries(turns: TurnStore): readonly unknown[] {
  return Array.from({ length: turns.size }, (_, place) => {
    const summary = turns.summary(place)
    return [FACTS.map((name) => [name, summary[name]]), clientCallOf(turns.trigger(place))]
  })
}

const FACTS = [
  'trigger',
  'server',
  'method',
  'frame',
  'answered',
  'enveloped',
  'hasSteps',
  'name',
] as const satisfies readonly (keyof TurnSummary)[]

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

function spoken(one: RecordedMessage | undefined): unknown {
  if (one === undefined) return undefined
  const { n, t, server, conn, x: exchange, dir, text: sent, message: read, item } = one
  return { n, t, server, conn, exchange, dir, sent, read, item }
}

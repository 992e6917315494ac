import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTape, type TapeReader } from '../../store/file/read.ts'
import { decodeFrame } from '../../tape/codec.ts'
import type { Frame } from '../../tape/frame.ts'
import { summarizeExchange } from '../exchanges.ts'
import { inspectAsText } from './inspect-text.ts'
import { overviewAsText, readOverview } from './overview.ts'
import { inspectTape, selectTapeServers } from './inspect.ts'
import { callStats } from '../stats.ts'
import { cases } from '../../../test/support/cases.ts'

const id = fc.constantFrom(0, 1, '1', 2)
const meta = fc.constantFrom(
  {},
  { progressToken: 5 },
  { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
)
const CLIENT = { 'io.modelcontextprotocol/clientInfo': { name: 'c', version: '2' } }

const fromClient = fc.oneof(
  fc.record({
    id,
    method: fc.constant('tools/call'),
    params: fc.record({ name: fc.constantFrom('a', 'b'), _meta: meta }),
  }),
  fc.record({
    id,
    method: fc.constant('resources/read'),
    params: fc.constant({ uri: 'file:///a', _meta: CLIENT }),
  }),
  fc.record({
    id,
    method: fc.constant('initialize'),
    params: fc.constant({ clientInfo: { name: 'x' }, capabilities: {} }),
  }),
  fc.record({ id, method: fc.constant('server/discover'), params: fc.record({ _meta: meta }) }),
  fc.record({ method: fc.constant('notifications/cancelled'), params: fc.record({ requestId: id }) }),
  fc.record({ id, result: fc.constant({}) }),
)
const fromServer = fc.oneof(
  fc.record({
    id,
    result: fc.constantFrom({}, { isError: true }, { resultType: 'x' }, { serverInfo: { name: 's' } }),
  }),
  fc.record({
    id,
    error: fc.constantFrom({ code: -1, message: 'no\nway' }, { message: 'm', data: { kind: 'replay_miss' } }),
  }),
  fc.record({ id, method: fc.constant('sampling/createMessage') }),
  fc.constant({ method: 'notifications/progress', params: { progressToken: 5 } }),
  fc.constant({ method: 'notifications/message' }),
)
const message = <Said extends object>(said: fc.Arbitrary<Said>): fc.Arbitrary<object> =>
  said.map((members) => ({ jsonrpc: '2.0', ...members }))
const payload = fc.oneof(
  { weight: 5, arbitrary: fc.record({ dir: fc.constant('c2s'), msg: message(fromClient) }) },
  { weight: 5, arbitrary: fc.record({ dir: fc.constant('s2c'), msg: message(fromServer) }) },
  fc.record({ dir: fc.constant('c2s'), msg: fc.array(message(fromClient), { minLength: 1, maxLength: 3 }) }),
  fc.record({
    dir: fc.constant('s2c'),
    stderr: fc.string({ unit: fc.constantFrom('a', '\r', '\n'), maxLength: 12 }),
  }),
  fc.record({
    dir: fc.constant('s2c'),
    raw: fc.constant('oops'),
    why: fc.constant('cut'),
    cut: fc.record({ bytes: fc.constant(9), id }),
  }),
  fc.record({
    dir: fc.constant('s2c'),
    http: fc.record({ status: fc.constantFrom(200, 401), headers: fc.constant([]) }),
  }),
  fc.record({
    event: fc.constantFrom('exit', 'signal', 'server'),
    code: fc.constant(1),
    transport: fc.constant('stdio'),
  }),
  fc.record({ novel: fc.constant(true) }),
)
const line = fc.tuple(
  fc.record({ server: fc.constantFrom('one', 'two'), conn: fc.constantFrom(1, 2) }),
  fc.option(fc.constantFrom(1, 2), { nil: undefined }),
  payload,
)

test('the overview of a streamed tape is equal to that of a tape in memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 30, size: 'max' }), fc.boolean(), async (lines, onlyOne) => {
      const all = readerOf(withStatusesLast(lines).map((members, at) => frameOf(members, at + 1)))
      const reader = onlyOne ? await selectTapeServers(all, 'one') : all
      const tape = await readTape(reader)
      const overview = await readOverview(reader)
      expect([...overviewAsText(overview)].join('')).toBe(
        inspectAsText(inspectTape(tape), { verbose: false }),
      )
      expect(callStats(overview.exchanges)).toEqual(
        callStats(inspectTape(tape).exchanges.map(summarizeExchange)),
      )
    }),
    cases(100),
  )
})

/** The status of an HTTP exchange comes after its requests. */
function withStatusesLast(
  lines: readonly (readonly [object, number | undefined, object])[],
): readonly object[] {
  const all = lines.map(([place, x, told]) => ({ ...place, x: 'http' in told ? (x ?? 1) : x, ...told }))
  return all.toSorted((a, b) => Number('http' in a) - Number('http' in b))
}

function frameOf(members: object, n: number): Frame {
  const frame = decodeFrame(JSON.stringify({ n, t: n * 1.5, ...members }))
  if (frame.kind === 'broken') throw new Error(frame.why)
  return frame
}

function readerOf(frames: readonly Frame[]): TapeReader {
  const header = {
    reelay: 1,
    id: 'x',
    started: '2026-11-15T07:20:59.123Z',
    by: 'test',
    servers: { one: { transport: 'stdio' } },
    tags: {},
  } as const
  return {
    path: 'no-such-folder/x.tape.jsonl',
    header,
    version: 1,
    state: { ended: false, problems: [] },
    async *frames() {
      yield* frames
    },
    async *batches() {
      yield frames
    },
  }
}

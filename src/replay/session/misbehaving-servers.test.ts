import { expect, test } from 'vitest'
import { call, HANDSHAKE, tapeOf } from '../../../test/support/tape-of.ts'
import { classifyMessage } from '../../protocol/message.ts'
import type { ReplayTarget } from '../options.ts'
import { replay } from '../replay.ts'
import type { ReplayReport } from '../report.ts'

const TAPE = tapeOf(...HANDSHAKE, ...call(1, 'search', {}, 'one'), ...call(2, 'search', {}, 'two'))
const ONE = '{"content":[{"type":"text","text":"one"}]}'
const TWO = ONE.replace('one', 'two')

/** A server that says these texts to its calls, with their ids for ID. */
function saying(...texts: readonly (readonly string[])[]): ReplayTarget {
  const rest = [...texts]
  return {
    name: 'an odd server',
    open: async ({ onText }) => ({
      close: async () => {},
      send: (text) => {
        const message = classifyMessage(JSON.parse(text))
        if (message.kind !== 'request' || message.method === 'tools/list') return
        const said = message.method === 'initialize' ? [GREETING] : (rest.shift() ?? [])
        for (const one of said) queueMicrotask(() => onText(one.replaceAll('ID', JSON.stringify(message.id))))
      },
    }),
  }
}

const GREETING =
  '{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"recorded-server","version":"1"}}}'

function played(...texts: readonly (readonly string[])[]): Promise<ReplayReport> {
  return replay(TAPE, { target: saying(...texts), allow: ['search'], timeout: 5000, handshake: 'recorded' })
    .report
}

test.each([
  ['neither a result nor an error', '{"jsonrpc":"2.0","id":ID}'],
  [
    'both a result and an error',
    `{"jsonrpc":"2.0","id":ID,"result":${ONE},"error":{"code":1,"message":"x"}}`,
  ],
  ['no version of JSON-RPC', `{"id":ID,"result":${ONE}}`],
])('an answer with %s is known for what it is at once, and the run goes on', async (_, text) => {
  const { steps } = await played([text], [`{"jsonrpc":"2.0","id":ID,"result":${TWO}}`])
  const [first, second] = steps.filter(({ tool }) => tool === 'search')
  expect(first).toMatchObject({ state: 'lost', findings: [{ layer: 'transport' }] })
  expect(first?.why).toMatch(/^the answer is not a valid response: \{/)
  expect(second).toMatchObject({ state: 'done', findings: [] })
})

test('a second answer, an answer to nothing and what is no message are noted, each once', async () => {
  const one = `{"jsonrpc":"2.0","id":ID,"result":${ONE}}`
  const stranger = `{"jsonrpc":"2.0","id":"x","result":${ONE}}`
  const { notes, summary } = await played(
    [one, one, stranger, 'oops', 'oops'],
    [`{"jsonrpc":"2.0","id":ID,"result":${TWO}}`],
  )
  expect(notes).toEqual([
    'the server answered 2, a second time, or too late',
    'the server answered "x", which is not the id of any request',
    'the server sent an invalid message: oops (if this is a log line, let the server log to stderr) (2 times)',
  ])
  expect(summary.verdict).toBe('pass')
})

test('thousands of equal requests of a server are reported in one line', async () => {
  const ask = '{"jsonrpc":"2.0","id":"q","method":"roots/list"}'
  const asks = Array.from({ length: 5000 }, () => ask)
  const { steps, notes } = await played(
    [...asks, `{"jsonrpc":"2.0","id":ID,"result":${ONE}}`],
    [`{"jsonrpc":"2.0","id":ID,"result":${TWO}}`],
  )
  expect(steps.flatMap(({ findings }) => findings.map(({ message }) => message))).toEqual([
    'the request roots/list is new (5000 times)',
  ])
  expect(notes).toEqual([
    'the server sent the request roots/list, which was not recorded: answered by policy (5000 times)',
  ])
})

test('progress and logs without end are no difference, and are not all kept', async () => {
  const log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'
  const logs = Array.from({ length: 30_000 }, () => log)
  const { summary } = await played(
    [...logs, `{"jsonrpc":"2.0","id":ID,"result":${ONE}}`],
    [`{"jsonrpc":"2.0","id":ID,"result":${TWO}}`],
  )
  expect(summary.verdict).toBe('pass')
})

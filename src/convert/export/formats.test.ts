import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyMessage } from '../../protocol/message.ts'
import type { Frame, MessageFrame } from '../../tape/frame.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { messagesOfTurn } from '../../tape/turns.ts'
import { exportTape } from '../export-tape.ts'
import { importTape, type ImportedTape, readerOf } from '../import-tape.ts'

const HEADER: TapeHeader = {
  reelay: 1,
  id: '01TEST',
  started: '2026-05-04T10:00:00.000Z',
  by: 'reelay 0.1.0',
  servers: { demo: { transport: 'stdio', command: ['node', 'server.mjs', '--name', 'a b'] } },
  session: 'abc',
  tags: { suite: 'smoke' },
}

interface Part {
  readonly dir: 'c2s' | 's2c'
  readonly text: string
}

const rpc = (dir: 'c2s' | 's2c', message: object): Part => ({
  dir,
  text: JSON.stringify({ jsonrpc: '2.0', ...message }),
})

function messages(parts: readonly Part[]): readonly Frame[] {
  return parts.map(({ dir, text }, index) => ({
    kind: 'message',
    n: index + 1,
    t: index * 1.5,
    server: 'demo',
    conn: 1,
    dir,
    text,
    message: classifyMessage(JSON.parse(text)),
  }))
}

function ended(frames: readonly Frame[]): readonly Frame[] {
  const n = frames.length + 1
  return [...frames, { kind: 'event', n, t: n * 1.5, event: 'end', details: { frames: n } }]
}

async function exported(
  frames: readonly Frame[],
  format: string,
  header: TapeHeader = HEADER,
): Promise<{ readonly text: string; readonly lost: readonly string[] }> {
  return exportTape(readerOf('demo.tape.jsonl', header, frames), { format })
}

const HANDSHAKE = [
  rpc('c2s', {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }),
  rpc('s2c', {
    id: 0,
    result: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    },
  }),
  rpc('c2s', { method: 'notifications/initialized' }),
]
const PROGRESS = rpc('s2c', { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
const SESSION = [
  ...HANDSHAKE,
  rpc('c2s', { id: 1, method: 'tools/call', params: { name: 'a', arguments: { n: 1 } } }),
  PROGRESS,
  {
    dir: 's2c' as const,
    text: '{ "jsonrpc": "2.0", "id": 1, "result": {"content":[{"type":"text","text":"\\u00fc"}],"n":1.0} }',
  },
  rpc('c2s', { id: 2, method: 'tools/call', params: { name: 'b', arguments: {} } }),
  rpc('s2c', { id: 2, error: { code: -32602, message: 'no', data: 'text' } }),
]
const STDERR: Frame = { kind: 'stderr', n: 9, t: 13, server: 'demo', conn: 1, dir: 's2c', stderr: 'oops\n' }

/** Formats that can be imported again, with what they list as lost for the session. */
const TWO_WAY: Readonly<Record<string, { readonly lost: string; readonly imported?: string }>> = {
  jsonl: { lost: '1 label, 1 tag, 1 address of servers, 1 stderr frame' },
  yaml: { lost: '' },
  har: { lost: '' },
  mcporter: { lost: '1 label, 1 tag, 1 address of servers, 1 stderr frame, times below a millisecond' },
  'mcp-cassette': { lost: '1 label, 1 tag, 1 stderr frame' },
  'mcp-rec': { lost: '1 label, 1 tag, 1 address of servers, 1 stderr frame' },
  qai: { lost: '1 tag, 1 stderr frame, times below a millisecond' },
}

describe('formats with a place for every message', () => {
  test.each(Object.keys(TWO_WAY))('%s: what cannot be held is listed exactly', async (format) => {
    const { lost } = await exported(ended([...messages(SESSION), STDERR]), format)
    expect(lost.join(', ')).toBe(TWO_WAY[format]?.lost)
  })

  test.each(Object.keys(TWO_WAY))(
    '%s: importing an export gives the same messages in the same spelling',
    async (format) => {
      const { text } = await exported(ended(messages(SESSION)), format)
      const tape = await importTape(text)
      expect(tape.format).toBe(format)
      expect(textsOf(tape)).toEqual(SESSION.map((part) => [part.dir, part.text]))
      expect(tape.turns.map(({ trigger }) => trigger?.n)).toEqual(tape.turns.map(({ trigger }) => trigger?.n))
    },
  )

  test.each(Object.keys(TWO_WAY))(
    '%s: random tapes come back equal, up to the listed losses',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyPart, { minLength: 1, maxLength: 12 }), async (parts) => {
          const { text } = await exported(ended(messages(parts)), format)
          expect(textsOf(await importTape(text, { format })).map(String)).toEqual(
            parts.map(({ dir, text: sent }) => String([dir, sent])),
          )
        }),
        { numRuns: 60 },
      )
    },
  )

  test.each(['yaml', 'har'])(
    '%s keeps everything else too: stderr, raw frames, events, HTTP heads, times',
    async (format) => {
      const place = { server: 'demo', conn: 2, x: 4 }
      const frames = ended([
        ...messages(SESSION),
        STDERR,
        { kind: 'raw', n: 10, t: 14.25, ...place, dir: 's2c', raw: 'not json', why: 'not JSON' },
        {
          kind: 'http',
          n: 11,
          t: 15,
          ...place,
          dir: 'c2s',
          http: { method: 'POST', path: '/mcp?a=b', headers: [['X-A', '1']] },
        },
        { kind: 'http', n: 12, t: 16, ...place, dir: 's2c', http: { status: 200, headers: [] } },
        { kind: 'event', n: 13, t: 17, server: 'demo', conn: 1, event: 'exit', details: { code: 3 } },
      ])
      const { text, lost } = await exported(frames, format)
      expect(lost).toEqual([])
      const tape = await importTape(text)
      expect(tape.rest).toEqual(frames.filter(({ kind }) => kind !== 'message'))
      const { imported: _, ...tags } = tape.header.tags
      expect({ ...tape.header, id: HEADER.id, by: HEADER.by, tags }).toEqual(HEADER)
    },
  )
})

/** JSON-RPC messages with odd names, numbers and texts. */
const anyPart: fc.Arbitrary<Part> = fc
  .record({
    dir: fc.constantFrom('c2s' as const, 's2c' as const),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(undefined)),
    method: fc.string({ minLength: 1 }),
    value: fc.jsonValue(),
    isSpaced: fc.boolean(),
  })
  .map(({ dir, id, method, value, isSpaced }) => ({
    dir,
    text: JSON.stringify(
      { jsonrpc: '2.0', ...(id !== undefined && { id }), method: `x/${method}`, params: { value } },
      undefined,
      isSpaced ? 1 : 0,
    ).replaceAll('\n', ' '),
  }))

test('an edited message in YAML is marked, and the others keep their spelling', async () => {
  const { text } = await exported(ended(messages(SESSION)), 'yaml')
  const tape = await importTape(text.replace('message: no\n', 'message: never\n'))
  expect(tape.notes).toEqual(['1 messages were edited: frames 8'])
  expect(tape.header.tags).toEqual({ suite: 'smoke', edited: 'frames 8' })
  expect(textsOf(tape).slice(0, 7)).toEqual(SESSION.slice(0, 7).map((part) => [part.dir, part.text]))
  expect(textsOf(tape)[7]?.[1]).toContain('"never"')
})

const outcomes = (turns: ImportedTape['turns']): unknown =>
  turns
    .flatMap(({ trigger, response }) =>
      trigger?.message.kind === 'request' && response?.message.kind === 'response'
        ? [[trigger.message.method, trigger.message.params, response.message.outcome]]
        : [],
    )
    .map((call) => JSON.stringify(call))
    .toSorted()

describe('formats of requests with responses', () => {
  test('Agent VCR: requests, responses, notifications and losses', async () => {
    const { text, lost } = await exported(ended([...messages(SESSION), STDERR]), 'agent-vcr')
    expect(lost.join(', ')).toBe(
      '1 stderr frame, overlap of calls at the same time, 1 notification of the client, 1 data member of errors',
    )
    const tape = await importTape(text)
    expect(tape.format).toBe('agent-vcr')
    const { imported: _, ...tags } = tape.header.tags
    expect([tape.header.session, tags]).toEqual(['abc', { suite: 'smoke' }])
    expect(tape.header.servers['imported']?.command).toEqual(['node', 'server.mjs', '--name', 'a b'])
    const kept = SESSION.filter(({ text: sent }) => !sent.includes('notifications/initialized'))
    expect(textsOf(tape).map(([, sent]) => sent)).toEqual(
      kept.map(({ text: sent }) => sent.replace(',"data":"text"', '')),
    )
  })

  test('Shadow: its replay index finds every call', async () => {
    const { text, lost } = await exported(ended(messages(SESSION)), 'shadow')
    expect(lost).toEqual([
      '1 label',
      '1 tag',
      '1 address of servers',
      'ids of messages',
      'order of messages other than tool calls',
    ])
    const tape = await importTape(text)
    expect(tape.format).toBe('agentlog')
    const original = await importTape(SESSION.map(({ dir, text: sent }) => ({ dir, message: sent })))
    expect(outcomes(tape.turns)).toEqual(outcomes(original.turns))
  })

  test('results of qai name the frames, as the ids of its session do', async () => {
    const results = JSON.parse((await exported(ended(messages(SESSION)), 'qai-results')).text) as {
      results: { original_request: { id: string } }[]
    }
    const session = JSON.parse((await exported(ended(messages(SESSION)), 'qai')).text) as {
      messages: { proxy_id: string; correlated_id: string | null; method: string | null }[]
    }
    const requests = session.messages.filter(
      ({ method }) => method === 'tools/call' || method === 'initialize',
    )
    expect(results.results.map((each) => each.original_request.id)).toEqual(
      requests.map((each) => each.proxy_id),
    )
    expect(session.messages.flatMap(({ correlated_id: id }) => id ?? [])).toEqual([
      'frame-1',
      'frame-4',
      'frame-7',
    ])
  })
})

test('several servers: one is chosen for formats that hold one, and others keep all', async () => {
  const frames = messages(SESSION).map((frame, index) =>
    index < 3 ? frame : ({ ...frame, server: 'other' } as Frame),
  )
  const header = { ...HEADER, servers: { demo: { transport: 'stdio' }, other: { transport: 'stdio' } } }
  await expect(exported(frames, 'agent-vcr', header)).rejects.toMatchObject({
    hint: 'choose one with --server: demo, other',
  })
  const one = await exportTape(readerOf('x', header, frames), { format: 'mcp-rec', server: 'other' })
  expect(one.text.trim().split('\n')).toHaveLength(5)
  expect((await exported(frames, 'jsonl', header)).text.trim().split('\n')).toHaveLength(8)
})

describe('traces', () => {
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const traced = [
    ...HANDSHAKE,
    rpc('c2s', {
      id: 1,
      method: 'tools/call',
      params: { name: 'a', arguments: {}, _meta: { traceparent: parent } },
    }),
    PROGRESS,
    rpc('s2c', { id: 1, result: { content: [], isError: true } }),
  ]

  test('OTLP: a span for each request, with the conventions for MCP and the parent of the caller', async () => {
    const { text } = await exported(ended(messages(traced)), 'otlp')
    const { resourceSpans } = JSON.parse(text) as {
      resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[]
    }
    const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans: each }) => each))
    expect(spans.map(({ name }) => name)).toEqual(['initialize', 'tools/call a'])
    expect(spans[1]).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      kind: 3,
      startTimeUnixNano: '1777888800004500000',
      endTimeUnixNano: '1777888800007500000',
      status: { code: 2 },
    })
    const facts = Object.fromEntries(
      (spans[1]!['attributes'] as { key: string; value: { stringValue: string } }[]).map(({ key, value }) => [
        key,
        value.stringValue,
      ]),
    )
    expect(facts).toEqual({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-06-18',
      'jsonrpc.request.id': '1',
      'jsonrpc.protocol.version': '2.0',
      'error.type': 'tool_error',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'a',
      'network.transport': 'pipe',
    })
  })

  test('Chrome trace events: calls begin and end, and servers have names', async () => {
    const { text } = await exported(ended([...messages(traced), STDERR]), 'trace')
    const { traceEvents } = JSON.parse(text) as { traceEvents: Record<string, unknown>[] }
    expect(traceEvents.map(({ ph, name, ts }) => [ph, name, ts])).toEqual([
      ['M', 'process_name', 0],
      ['b', 'initialize', 0],
      ['e', 'initialize', 1500],
      ['i', 'notifications/initialized', 3000],
      ['b', 'tools/call a', 4500],
      ['i', 'notifications/progress', 6000],
      ['e', 'tools/call a', 7500],
      ['i', 'stderr', 13_000],
    ])
  })
})

test('OpenAPI: an operation for each tool, with its schema and the recorded examples', async () => {
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } } }
  const parts = [
    ...HANDSHAKE,
    rpc('c2s', { id: 9, method: 'tools/list' }),
    rpc('s2c', { id: 9, result: { tools: [{ name: 'a', description: 'Does it', inputSchema }] } }),
    ...SESSION.slice(3),
  ]
  const { text, lost } = await exported(ended(messages(parts)), 'openapi')
  expect(lost).toContain('2 requests other than tool calls')
  const { openapi, paths } = JSON.parse(text) as { openapi: string; paths: Record<string, { post: object }> }
  expect([openapi, Object.keys(paths)]).toEqual(['3.1.0', ['/tools/a', '/tools/b']])
  expect(paths['/tools/a']?.post).toMatchObject({
    operationId: 'a',
    description: 'Does it',
    requestBody: {
      content: {
        'application/json': { schema: inputSchema, examples: { 'exchange-3': { value: { n: 1 } } } },
      },
    },
    responses: { 200: { content: { 'application/json': { examples: { 'exchange-3': {} } } } } },
  })
  expect(paths['/tools/b']?.post).toMatchObject({
    responses: { default: { description: 'A JSON-RPC error' } },
  })
})

test('a tape is data: texts of a server do not become code in a script', async () => {
  const evil = `'; rm -rf / #\`\${process.exit(9)}</script>\u2028*/ $(touch /tmp/x)`
  const parts = [
    ...HANDSHAKE,
    rpc('c2s', { id: 1, method: 'tools/call', params: { name: evil, arguments: { q: evil } } }),
    rpc('s2c', { id: 1, result: { content: [{ type: 'text', text: evil }] } }),
  ]
  const header = {
    ...HEADER,
    by: `reelay 1\n${evil}`,
    servers: { [`demo\n${evil}`]: { transport: 'stdio' } },
  }
  const frames = messages(parts).map((frame) => ({ ...frame, server: `demo\n${evil}` }) as Frame)
  for (const format of ['vitest', 'playwright', 'node-test', 'k6']) {
    const { text } = await exportTape(readerOf('x', header, frames), { format })
    const code = text.replaceAll(/^\/\/.*/gm, '').replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    expect(code).not.toContain('rm -rf')
    expect(text).not.toContain('\u2028')
  }
})

function textsOf(tape: ImportedTape): readonly (readonly [string, string])[] {
  const frames = [...tape.turns.flatMap(messagesOfTurn), ...tape.strays] as readonly Pick<
    MessageFrame,
    'n' | 'dir' | 'text'
  >[]
  return frames.toSorted((a, b) => a.n - b.n).map(({ dir, text }) => [dir, text] as const)
}

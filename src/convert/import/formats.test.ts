import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { describe, expect, test } from 'vitest'
import { ReplaySession } from '../../serve/session/replay-session.ts'
import type { MessageFrame } from '../../tape/frame.ts'
import { messagesOfTurn } from '../../tape/turns.ts'
import { importTape, type ImportedTape } from '../import-tape.ts'
import { IMPORT_FORMATS } from './index.ts'

interface SentMessage {
  readonly dir: 'c2s' | 's2c'
  readonly at: number
  readonly message: Record<string, unknown>
}

const START = Date.parse('2026-05-04T10:00:00.000Z')
const rpc = (message: object): Record<string, unknown> => ({ jsonrpc: '2.0', ...message })
const c2s = (at: number, message: object): SentMessage => ({ dir: 'c2s', at, message: rpc(message) })
const s2c = (at: number, message: object): SentMessage => ({ dir: 's2c', at, message: rpc(message) })
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] })
const call = (id: number, name: string, args: object): object => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** A request of the server has the id of a request of the client that is still open. */
const SESSION: readonly SentMessage[] = [
  c2s(0, {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: { sampling: {} },
      clientInfo: { name: 'c', version: '1' },
    },
  }),
  s2c(5, {
    id: 1,
    result: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    },
  }),
  c2s(6, { method: 'notifications/initialized' }),
  c2s(10, { id: 2, method: 'tools/list', params: {} }),
  s2c(12, { id: 2, result: { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] } }),
  c2s(20, call(3, 'ask', { q: 'one' })),
  s2c(22, { method: 'notifications/progress', params: { progressToken: 't', progress: 1 } }),
  s2c(23, { id: 3, method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } }),
  c2s(24, { id: 3, result: { role: 'assistant', model: 'm', content: { type: 'text', text: '42' } } }),
  s2c(26, { id: 3, result: text('answer 42') }),
  c2s(30, call(4, 'missing', {})),
  s2c(31, { id: 4, error: { code: -32602, message: 'no such tool' } }),
]
const iso = (at: number): string => new Date(START + at).toISOString()
const naive = (at: number): string => iso(at).slice(0, -1)
const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const long = (dir: string): string => (dir === 'c2s' ? 'client_to_server' : 'server_to_client')

/** How each recorder of messages spells the session. */
const WRITERS: Readonly<Record<string, () => string>> = {
  mcporter: () =>
    lines([
      { jsonrpc: '2.0', method: '$transport/start', _meta: { dir: 'lifecycle', server: 's', ts: iso(0) } },
      ...SESSION.map(({ dir, at, message }) => ({
        ...message,
        _meta: { dir: dir === 'c2s' ? 'send' : 'recv', server: 's', ts: iso(at) },
      })),
      { jsonrpc: '2.0', method: '$transport/close', _meta: { dir: 'lifecycle', server: 's', ts: iso(40) } },
    ]),
  'mcp-rec': () =>
    lines(
      SESSION.map(({ dir, at, message }) => ({
        ts: (START + at) / 1000,
        dir: dir === 'c2s' ? 'client->server' : 'server->client',
        msg: message,
      })),
    ),
  'mcp-recorder-jsonl': () =>
    lines([
      ...SESSION.map(({ dir, at, message }, seq) => ({ seq, t: (START + at) / 1000, dir, msg: message })),
      { type: 'summary', startedAt: START / 1000, server: { command: 'node', args: ['s.mjs'] } },
    ]),
  'mcp-cassette': () =>
    lines([
      {
        type: 'header',
        cassetteVersion: 2,
        recorder: 'x',
        startedAt: iso(0),
        transport: 'stdio',
        command: ['node'],
      },
      ...SESSION.map(({ dir, at, message }) => ({ type: 'frame', t: at, dir, frame: message })),
    ]),
  'mcp-tape': () =>
    lines([
      { v: 1, type: 'meta', startedAt: iso(0), label: 's', command: ['node'], mcpTapVersion: '1' },
      ...SESSION.map(({ dir, at, message }) => ({
        t: iso(at),
        dir: dir === 'c2s' ? 'in' : 'out',
        raw: JSON.stringify(message),
      })),
      { t: iso(40), type: 'end', exitCode: 0, durationMs: 40 },
    ]),
  mcpsnoop: () =>
    lines([
      {
        session_id: 'a',
        server_label: 's',
        seq: 0,
        ts: iso(0),
        direction: 'meta',
        transport: 'stdio',
        raw: { command: ['node', 's.mjs'] },
      },
      ...SESSION.map(({ dir, at, message }, seq) => ({
        session_id: 'a',
        server_label: 's',
        seq: seq + 1,
        ts: iso(at),
        direction: dir,
        transport: 'stdio',
        raw: message,
      })),
      {
        session_id: 'a',
        server_label: 's',
        seq: 99,
        ts: iso(50),
        direction: 'stderr',
        transport: 'stdio',
        text: 'bye',
      },
    ]),
  shadowcat: () =>
    lines([
      {
        type: 'init',
        version: '2.0',
        tape_id: 'x',
        session_id: 'y',
        created_at: iso(0),
        protocol_version: '2025-06-18',
      },
      ...SESSION.map(({ dir, at, message }, seq) => ({
        type: 'frame',
        seq,
        ts: START + at,
        dir: long(dir),
        ...(seq === 3
          ? { env_compressed: gzipSync(JSON.stringify({ message })).toString('base64') }
          : { env: { message } }),
        transport: { stdio: { process_id: 1, command: 'node' } },
      })),
      { type: 'checkpoint', checkpoint_at: iso(40), seq: 12, stats: {} },
    ]),
  jsonl: () =>
    lines(SESSION.map(({ dir, at, message }) => ({ time: iso(at), server: 's', conn: 1, dir, message }))),
  qai: () =>
    JSON.stringify({
      id: 'q',
      started_at: iso(0),
      ended_at: null,
      transport: 'stdio',
      server_command: 'node s.mjs',
      server_url: null,
      messages: SESSION.map(({ dir, at, message }, sequence) => ({
        proxy_id: `p${sequence}`,
        sequence,
        timestamp: iso(at).replace('Z', '+00:00'),
        direction: long(dir),
        transport: 'stdio',
        modified: false,
        payload: message,
      })),
    }),
  'mcp-cassette-py': () =>
    JSON.stringify({
      format_version: 2,
      recorded_at: iso(0).replace('Z', '000Z'),
      transport: 'stdio',
      server_url: null,
      messages: SESSION.map(({ dir, at, message }, seq) => ({
        seq,
        t_offset_ms: at,
        sender: dir === 'c2s' ? 'client' : 'server',
        kind: 'request',
        payload: message,
        redacted: false,
        exchange: null,
      })),
    }),
  'mcp-flight-recorder': () =>
    JSON.stringify({
      version: '0.1.0',
      command: { executable: 'node', args: ['s.mjs'] },
      events: SESSION.map(({ dir, at, message }, seq) => ({
        seq,
        timestamp: iso(at),
        direction: long(dir),
        id: null,
        kind: 'method' in message ? ('id' in message ? 'request' : 'notification') : 'response',
        ...message,
        riskFlags: [],
      })),
      calls: [],
    }),
  'mcp-vcr': () =>
    stringify({
      meta: { version: 1, recorded_at: iso(0), session_id: 'v', server_command: ['node', 's.mjs'] },
      messages: SESSION.map(({ dir, at, message }) => ({ t: at, dir, payload: message })),
    }),
  inspector: () =>
    JSON.stringify(
      SESSION.flatMap(({ dir, at, message }, id) => {
        if (!('method' in message)) return []
        const answer = SESSION.find(
          (other) =>
            other.dir !== dir &&
            other.at > at &&
            !('method' in other.message) &&
            other.message['id'] === message['id'],
        )
        return [
          {
            id,
            timestamp: iso(at),
            direction: 'id' in message ? 'request' : 'notification',
            origin: dir === 'c2s' ? 'client' : 'server',
            message,
            ...(answer && 'id' in message && { response: answer.message, duration: answer.at - at }),
          },
        ]
      }),
    ),
  mcp: () => lines(SESSION.map(({ message }) => message)),
}

test.each(Object.keys(WRITERS))(
  'a session in the format %s is recognised, and its messages keep their order and sender',
  async (name) => {
    const tape = await importTape(WRITERS[name]!())
    expect(tape.format).toBe(name)
    expect(messagesOf(tape)).toEqual(SESSION.map(({ dir, message }) => [dir, message]))
    expect(
      tape.turns.map(({ trigger, steps }) => [trigger?.text.slice(0, 0), steps.map(({ kind }) => kind)]),
    ).toEqual([
      ['', ['respond']],
      ['', []],
      ['', ['respond']],
      ['', ['notify', 'ask', 'respond']],
      ['', ['respond']],
    ])
    expect(tape.header.tags['imported']).toBe(name)
    expect(name === 'mcp' ? iso(0) : tape.header.started).toBe(iso(0))
  },
)

test.each(Object.keys(WRITERS))('a session in the format %s serves', async (name) => {
  const session = new ReplaySession(await importTape(WRITERS[name]!()))
  expect(await session.callTool({ name: 'ask', arguments: { q: 'one' } })).toEqual(text('answer 42'))
})

test('messages keep the spelling that they have in the file', async () => {
  const spelled =
    '{ "jsonrpc":"2.0","id":1.0, "method":"tools/call","params":{"name":"\\u0061","arguments":{"n":1e2}} }'
  const tape = await importTape(`{"ts":1,"dir":"client->server","msg":${spelled}}\n`)
  expect(tape.turns[0]?.trigger?.text).toBe(spelled)
  const stripped = await importTape(
    `{"jsonrpc":"2.0", "id":7,"method":"x","params":{"_meta":{"k":1.50}},"_meta":{"dir":"send","server":"a"}}\n`,
  )
  expect(stripped.turns[0]?.trigger?.text).toBe(
    '{"jsonrpc":"2.0", "id":7,"method":"x","params":{"_meta":{"k":1.50}}}',
  )
})

const sentRow = (server: string, dir: string, message: object): object => ({
  ...rpc(message),
  _meta: { dir, server, ts: iso(0) },
})
const startRow = (server: string): object => ({
  method: '$transport/start',
  _meta: { dir: 'lifecycle', server, ts: iso(0) },
})

test('servers that use the same ids at the same time stay apart, and each start is a connection', async () => {
  const tape = await importTape(
    lines([
      startRow('a'),
      startRow('b'),
      sentRow('a', 'send', call(1, 'x', {})),
      sentRow('b', 'send', call(1, 'y', {})),
      sentRow('b', 'recv', { id: 1, result: text('from b') }),
      sentRow('a', 'recv', { id: 1, result: text('from a') }),
      startRow('a'),
      sentRow('a', 'send', call(1, 'x', {})),
      sentRow('a', 'recv', { id: 1, result: text('again') }),
    ]),
  )
  expect(
    tape.turns.map(({ trigger, response }) => [
      trigger?.server,
      trigger?.conn,
      /from \w|again/.exec(response?.text ?? '')?.[0],
    ]),
  ).toEqual([
    ['a', 1, 'from a'],
    ['b', 1, 'from b'],
    ['a', 2, 'again'],
  ])
})

test('a file to which sessions were appended has a connection for each', async () => {
  const tape = await importTape(WRITERS['mcp-rec']!().repeat(3))
  expect(new Set(tape.turns.map(({ trigger }) => trigger?.conn))).toEqual(new Set([1, 2, 3]))
})

describe('recorders of requests with their responses', () => {
  const requests = SESSION.filter(
    ({ dir, message }) => dir === 'c2s' && 'id' in message && 'method' in message,
  )
  const answerTo = (id: unknown): Record<string, unknown> | undefined =>
    SESSION.find(({ dir, message }) => dir === 's2c' && message['id'] === id && !('method' in message))
      ?.message
  const answered = requests.map(({ message }) => [message['id'], answerTo(message['id'])])

  test.each([
    ['Python', { stamp: naive, extra: { result: null, error: null } }],
    ['TypeScript', { stamp: iso, extra: {} }],
  ])('Agent VCR in %s: times, nulls, and the opening', async (_, { stamp, extra }) => {
    const tape = await importTape(
      JSON.stringify({
        format_version: '1.0.0',
        metadata: {
          version: '1.0',
          recorded_at: stamp(0),
          transport: 'stdio',
          server_command: 'node s.mjs',
          server_args: ['-v'],
          tags: { env: 'x' },
          session_id: 'v1',
        },
        session: {
          initialize_request: requests[0]?.message,
          initialize_response: { ...extra, ...answerTo(1), error: null },
          capabilities: {},
          interactions: requests.slice(1).map(({ at, message }, sequence) => ({
            sequence,
            timestamp: stamp(at),
            direction: 'client_to_server',
            request: message,
            response: { ...extra, ...answerTo(message['id']) },
            notifications: [],
            latency_ms: 3.5,
          })),
        },
      }),
    )
    expect(tape.format).toBe('agent-vcr')
    expect(tape.header).toMatchObject({ session: 'v1', tags: { env: 'x' } })
    expect(tape.header.servers).toEqual({
      imported: { transport: 'stdio', command: ['node', 's.mjs', '-v'] },
    })
    expect(tape.turns.map(({ trigger, response }) => [idOf(trigger?.text), parse(response?.text)])).toEqual(
      answered,
    )
  })

  test('mcp-recorder by devhelm: exchanges over HTTP, with lifecycle requests', async () => {
    const tape = await importTape(
      JSON.stringify({
        version: '1.0',
        metadata: { recorded_at: iso(0), server_url: 'http://127.0.0.1:1/mcp' },
        interactions: [
          ...requests.map(({ message }) => ({
            type: 'jsonrpc_request',
            request: message,
            response: answerTo(message['id']),
            response_is_sse: true,
            response_status: 200,
            latency_ms: 2,
            http_method: null,
            http_path: null,
          })),
          {
            type: 'lifecycle',
            request: null,
            response: null,
            response_is_sse: false,
            response_status: 200,
            latency_ms: 1,
            http_method: 'DELETE',
            http_path: '/mcp',
          },
        ],
      }),
    )
    expect(tape.format).toBe('mcp-recorder')
    expect(tape.turns.map(({ trigger, response }) => [idOf(trigger?.text), parse(response?.text)])).toEqual(
      answered,
    )
    expect(tape.rest.filter(({ kind }) => kind === 'http')).toHaveLength(2 * (requests.length + 1))
  })

  test('replay results of qai: what was sent and what came back', async () => {
    const results = requests.map(({ message }) => ({
      original_request: { id: message['id'], method: message['method'], jsonrpc_id: message['id'] },
      sent_message: message,
      response: answerTo(message['id']),
      error: null,
      duration_ms: 1,
    }))
    const tape = await importTape(JSON.stringify({ target_command: 'node s.mjs', target_url: null, results }))
    expect(tape.format).toBe('qai-results')
    expect(tape.turns.map(({ trigger, response }) => [idOf(trigger?.text), parse(response?.text)])).toEqual(
      answered,
    )
  })

  test('mcp-observatory: ids are made up, and responses are found by their method', async () => {
    const entries = requests.flatMap(({ at, message }) => {
      const { result, error } = answerTo(message['id']) ?? {}
      return [
        {
          direction: 'request',
          method: message['method'],
          params: message['params'],
          timestampMs: START + at,
        },
        { direction: 'response', method: message['method'], result, error, timestampMs: START + at + 1 },
      ]
    })
    const tape = await importTape(
      JSON.stringify({ version: 1, targetId: 's', recordedAt: iso(0), transport: 'stdio', entries }),
    )
    expect(tape.format).toBe('mcp-observatory')
    expect(tape.turns.map(({ response }) => outcomeOf(response?.text))).toEqual(
      answered.map(([, answer]) => outcomeOf(JSON.stringify(answer))),
    )
  })

  test.each([
    ['JSON', JSON.stringify],
    ['YAML', stringify],
  ])('a plain list of pairs in %s', async (_, write) => {
    const interactions = requests.map(({ message }) => ({
      request: message,
      response: answerTo(message['id']),
    }))
    const tape = await importTape(write({ cassette: 'x', interactions }))
    expect(tape.format).toBe('pairs')
    expect(tape.turns.map(({ trigger, response }) => [idOf(trigger?.text), parse(response?.text)])).toEqual(
      answered,
    )
  })

  test('HAR: both forms of HTTP, event streams, sessions and foreign traffic', async () => {
    const tape = await importTape(JSON.stringify(harOf(requests, answerTo)))
    expect(tape.format).toBe('har')
    expect(tape.notes).toContain('skipped 1 HTTP exchanges that are not MCP')
    expect(tape.turns.map(({ trigger, response }) => [idOf(trigger?.text), parse(response?.text)])).toEqual(
      answered,
    )
    expect(new Set(tape.turns.map(({ trigger }) => trigger?.conn))).toEqual(new Set([1]))
    const session = new ReplaySession(tape)
    expect(await session.callTool({ name: 'ask', arguments: { q: 'one' } })).toEqual(text('answer 42'))
  })
})

const harEntry = (at: number, url: string, body: string, response: object): object => ({
  startedDateTime: iso(at),
  time: 4,
  request: {
    method: 'POST',
    url,
    headers: at > 0 ? [{ name: 'Mcp-Session-Id', value: 'abc' }] : [],
    postData: { mimeType: 'application/json', text: body },
  },
  response: { status: 200, headers: [], ...response },
})

function harOf(
  requests: readonly SentMessage[],
  answerTo: (id: unknown) => unknown,
): { log: { version: string; entries: unknown[] } } {
  return {
    log: {
      version: '1.2',
      entries: [
        harEntry(1, 'https://example.com/other', 'a=b', { content: { text: 'hello' } }),
        ...requests.map(({ at, message }, index) => {
          const answer = JSON.stringify(answerTo(message['id']))
          const isStream = index % 2 === 1
          return harEntry(at, 'https://example.com/mcp', JSON.stringify(message), {
            headers: [
              { name: 'Content-Type', value: isStream ? 'text/event-stream' : 'application/json' },
              { name: 'content-encoding', value: 'gzip' },
              ...(index === 0 ? [{ name: 'mcp-session-id', value: 'abc' }] : []),
            ],
            content: isStream
              ? {
                  text: Buffer.from(`id: 1\nevent: message\ndata: ${answer}\n\n`).toString('base64'),
                  encoding: 'base64',
                }
              : { text: answer },
          })
        }),
      ],
    },
  }
}

describe('recorders of tool calls', () => {
  const expected = [
    [{ name: 'ask', arguments: { q: 'one' } }, text('answer 42')],
    [
      { name: 'bad', arguments: {} },
      { ...text('it broke'), isError: true },
    ],
  ]

  const CALL_WRITERS: Readonly<Record<string, () => string>> = {
    'mcp-time-travel': () =>
      lines([
        { timestamp: iso(0), type: 'tools_list', tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
        {
          seq: 1,
          timestamp: iso(5),
          type: 'tool_call',
          tool: 'ask',
          input: { q: 'one' },
          output: text('answer 42'),
          latency_ms: 2,
          is_error: false,
        },
        {
          seq: 2,
          timestamp: iso(9),
          type: 'tool_call',
          tool: 'bad',
          input: {},
          output: text('it broke'),
          latency_ms: 2,
          is_error: true,
        },
      ]),
    'agent-vcr-calls': () =>
      JSON.stringify({
        agent_vcr_version: '1',
        interactions: [
          { seq: 1, tool_name: 'ask', args: { q: 'one' }, result: 'answer 42', duration_ms: 1 },
          {
            seq: 2,
            tool_name: 'bad',
            args: {},
            result: { ...text('it broke'), isError: true },
            duration_ms: 1,
          },
        ],
        metadata: { name: 'x' },
      }),
    mcpspec: () =>
      JSON.stringify({
        id: 'x',
        name: 'n',
        serverName: 's',
        createdAt: iso(0),
        tools: [{ name: 'ask' }],
        steps: [
          { tool: 'ask', input: { q: 'one' }, output: [{ type: 'text', text: 'answer 42' }], durationMs: 3 },
          { tool: 'bad', input: {}, output: [{ type: 'text', text: 'it broke' }], isError: true },
        ],
      }),
    'claude-code': () =>
      lines([
        { type: 'summary', summary: 'x' },
        { sessionId: 'x', type: 'user', timestamp: iso(0), message: { role: 'user', content: 'do it' } },
        claudeLine('assistant', 1, [
          { type: 'tool_use', id: 'a', name: 'mcp__my_server__ask', input: { q: 'one' } },
          { type: 'tool_use', id: 'b', name: 'Bash', input: { command: 'ls' } },
        ]),
        claudeLine('user', 2, [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'answer 42' }] },
        ]),
        claudeLine('user', 3, [{ type: 'tool_result', tool_use_id: 'b', content: 'files' }]),
        claudeLine('assistant', 4, [{ type: 'tool_use', id: 'c', name: 'mcp__my_server__bad', input: {} }]),
        claudeLine('user', 5, [
          { type: 'tool_result', tool_use_id: 'c', content: 'it broke', is_error: true },
        ]),
      ]),
    codex: () =>
      lines([
        { timestamp: iso(0), type: 'session_meta', payload: { id: 'x' } },
        codexLine(1, 'response_item', {
          type: 'function_call',
          name: 'my_server__ask',
          arguments: '{"q":"one"}',
          call_id: 'a',
        }),
        codexLine(2, 'event_msg', {
          type: 'mcp_tool_call_end',
          call_id: 'a',
          duration: { secs: 0, nanos: 500000 },
          invocation: { server: 'my_server', tool: 'ask', arguments: { q: 'one' } },
          result: { Ok: text('answer 42') },
        }),
        codexLine(2, 'response_item', { type: 'function_call_output', call_id: 'a', output: 'answer 42' }),
        codexLine(3, 'response_item', {
          type: 'function_call',
          name: 'my_server__bad',
          arguments: '{}',
          call_id: 'b',
        }),
        codexLine(4, 'response_item', {
          type: 'function_call_output',
          call_id: 'b',
          output: JSON.stringify({ ...text('it broke'), isError: true }),
        }),
      ]),
    'gemini-cli': () =>
      JSON.stringify({
        sessionId: 'x',
        projectHash: 'y',
        startTime: iso(0),
        messages: [
          { id: '1', type: 'user', timestamp: iso(0), content: 'do it' },
          {
            id: '2',
            type: 'gemini',
            timestamp: iso(1),
            content: '',
            toolCalls: [
              {
                id: 'a',
                name: 'mcp_my-server_ask',
                args: { q: 'one' },
                status: 'success',
                timestamp: iso(1),
                result: [{ functionResponse: { id: 'a', name: 'ask', response: { output: 'answer 42' } } }],
              },
              {
                id: 'b',
                name: 'mcp_my-server_bad',
                args: {},
                status: 'error',
                timestamp: iso(2),
                result: [{ functionResponse: { id: 'b', name: 'bad', response: { error: 'it broke' } } }],
              },
            ],
          },
        ],
      }),
    agentlog: () =>
      lines([
        { version: '0.1', id: 'sha256:0', kind: 'metadata', ts: iso(0), parent: null, payload: { sdk: {} } },
        {
          version: '0.1',
          id: 'sha256:1',
          kind: 'tool_call',
          ts: iso(1),
          parent: null,
          payload: { tool_name: 'ask', tool_call_id: 'a', arguments: { q: 'one' } },
        },
        {
          version: '0.1',
          id: 'sha256:2',
          kind: 'tool_result',
          ts: iso(2),
          parent: null,
          payload: { tool_call_id: 'a', output: 'answer 42', is_error: false },
        },
        {
          version: '0.1',
          id: 'sha256:3',
          kind: 'tool_call',
          ts: iso(3),
          parent: null,
          payload: { tool_name: 'bad', tool_call_id: 'b', arguments: {} },
        },
        {
          version: '0.1',
          id: 'sha256:4',
          kind: 'tool_result',
          ts: iso(4),
          parent: null,
          payload: { tool_call_id: 'b', output: 'it broke', is_error: true },
        },
      ]),
  }

  test.each(Object.keys(CALL_WRITERS))(
    '%s: calls become exchanges, which serve without a handshake',
    async (name) => {
      const tape = await importTape(CALL_WRITERS[name]!())
      expect(tape.format).toBe(name)
      const calls = tape.turns.flatMap(({ trigger, response }) => {
        const request = parse(trigger?.text)
        return request?.['method'] === 'tools/call'
          ? [[request['params'], parse(response?.text)?.['result']]]
          : []
      })
      expect(calls).toEqual(expected)
      expect(tape.notes.join('\n')).toContain('no handshake')
      const session = new ReplaySession(tape)
      expect(await session.callTool({ name: 'ask', arguments: { q: 'one' } })).toEqual(text('answer 42'))
    },
  )
})

const claudeLine = (role: string, at: number, content: object): object => ({
  sessionId: 'x',
  type: role,
  timestamp: iso(at),
  message: { role, content },
})
const codexLine = (at: number, type: string, payload: object): object => ({
  timestamp: iso(at),
  type,
  payload,
})

describe('damaged and hostile files', () => {
  test('a file of no format is refused with what was tried and why each failed', async () => {
    const error = await importTape('hello world').catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('not recognised; tried pcap (does not begin like a packet capture)')
    for (const { name } of IMPORT_FORMATS) expect(String(error)).toContain(name)
  })

  test.each([
    ['an empty file', '', /the file is empty/],
    ['a truncated document', WRITERS['qai']!().slice(0, -40), /not valid JSON/],
    ['a bomb of arrays', '['.repeat(1_000_000), /nests more than 5000 levels deep/],
    [
      'a bomb of objects on a line',
      `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
      /nests more than/,
    ],
    [
      'large YAML',
      `meta:\n${'  - a\n'.repeat(1_500_000)}`,
      /looks like YAML and has 8\.6 MB; YAML up to 8 MB is read/,
    ],
    ['a bomb of YAML aliases', yamlBomb(), /not recognised/],
    ['the magic number of a capture and nothing else', Buffer.from('d4c3b2a1', 'hex'), /not recognised/],
    [
      'an empty capture',
      Buffer.concat([Buffer.from('d4c3b2a1', 'hex'), Buffer.alloc(20)]),
      /contains no MCP messages over HTTP/,
    ],
  ])('%s is a clear error', async (_, content, message) => {
    const error = await importTape(content).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'IMPORT_FAILED' })
    expect(String(error)).toMatch(message)
  })

  test('a truncated last line is skipped with its number', async () => {
    const tape = await importTape(WRITERS['mcp-rec']!().slice(0, -10))
    expect(tape.notes).toContain('skipped line 12: not a JSON object')
    expect(tape.turns.at(-1)?.response).toBeUndefined()
  })

  test('files of Windows shells are read: UTF-16 and byte order marks', async () => {
    const content = WRITERS['mcp-rec']!()
    const wide = await importTape(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(content, 'utf16le')]))
    const marked = await importTape(`\uFEFF${content}`)
    expect([wide.turns.length, marked.turns.length]).toEqual([5, 5])
  })

  test('names of servers from a file stay names: they never become a path', async () => {
    const row = { ...rpc(call(1, 'x', {})), _meta: { dir: 'send', server: '../../etc/passwd', ts: iso(0) } }
    const tape = await importTape(lines([row]))
    expect(Object.keys(tape.header.servers)).toEqual(['../../etc/passwd'])
    expect(tape.path).toBe('')
  })
})

function yamlBomb(): string {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const before = level === 0 ? '"x"' : `*a${level - 1}`
    return `a${level}: &a${level} [${Array.from({ length: 10 }, () => before).join(', ')}]`
  })
  return `${levels.join('\n')}\nmeta: *a11\nmessages: *a11\n`
}

const ask = (id: number, name: string): SentMessage => c2s(0, call(id, name, {}))
const answer = (id: number, value: string): SentMessage => s2c(0, { id, result: text(value) })
const rows = (sent: readonly SentMessage[]): string =>
  lines(
    sent.map(({ dir, message }) => ({
      ts: 1,
      dir: dir === 'c2s' ? 'client->server' : 'server->client',
      msg: message,
    })),
  )

describe('what recorders get wrong', () => {
  test('a response that was written before its request follows it', async () => {
    const tape = await importTape(rows([answer(1, 'a'), ask(1, 'x'), ask(2, 'y'), answer(2, 'b')]))
    expect(tape.notes).toEqual(['1 response was recorded before the request; the order is repaired'])
    expect(tape.turns.map(({ response }) => outcomeOf(response?.text))).toEqual([
      { result: text('a') },
      { result: text('b') },
    ])
    expect(tape.strays).toEqual([])
  })

  test('a response to nothing stays where it is, if the next request with its id has its own', async () => {
    const tape = await importTape(rows([answer(1, 'stray'), ask(1, 'x'), answer(1, 'own')]))
    expect(tape.notes).toEqual([])
    expect(outcomeOf(tape.turns[0]?.response?.text)).toEqual({ result: text('own') })
    expect(tape.strays).toHaveLength(1)
  })

  test('an answer to initialize without serverInfo is completed, and keeps its spelling', async () => {
    const spelled = '{ "jsonrpc":"2.0","id":1,"result":{ "protocolVersion":"2024-11-05" , "n":1.0 } }'
    const opening = JSON.stringify(rpc({ id: 1, method: 'initialize', params: {} }))
    const file = [
      `{"ts":1,"dir":"client->server","msg":${opening}}`,
      `{"ts":1,"dir":"server->client","msg":${spelled}}`,
      rows([ask(2, 'x'), answer(2, 'a')]),
    ].join('\n')
    const tape = await importTape(file)
    expect(tape.notes).toEqual([
      'the recorded answer to initialize has no capabilities, serverInfo: added, because clients refuse it otherwise',
    ])
    expect(tape.turns[0]?.response?.text).toBe(
      '{ "jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}},"serverInfo":{"name":"recorded server","version":"0"}, "protocolVersion":"2024-11-05" , "n":1.0 } }',
    )
  })

  test('mcp-time-travel: an output that is only a JSON-RPC error is one', async () => {
    const row = { type: 'tool_call', seq: 1, tool: 'x', input: {}, latency_ms: 1, is_error: true }
    const error = { code: -32602, message: 'no x' }
    const tape = await importTape(lines([{ ...row, output: { error } }]))
    expect(outcomeOf(tape.turns[0]?.response?.text)).toEqual({ error })
  })
})

test('records of a program become a tape that serves', async () => {
  const tape = await importTape(
    SESSION.map(({ dir, at, message }) => ({ dir, message, time: START + at, server: 'mine' })),
  )
  expect(Object.keys(tape.header.servers)).toEqual(['mine'])
  const session = new ReplaySession(tape)
  expect(await session.callTool({ name: 'ask', arguments: { q: 'one' } })).toEqual(text('answer 42'))
})

function messagesOf(tape: ImportedTape): readonly unknown[] {
  const frames = tape.turns.flatMap(messagesOfTurn) as readonly Pick<MessageFrame, 'n' | 'dir' | 'text'>[]
  return frames.toSorted((a, b) => a.n - b.n).map(({ dir, text: sent }) => [dir, JSON.parse(sent) as unknown])
}

function parse(json: string | undefined): Record<string, unknown> | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Record<string, unknown>)
}

function idOf(json: string | undefined): unknown {
  return parse(json)?.['id']
}

function outcomeOf(json: string | undefined): unknown {
  const { result, error } = parse(json) ?? {}
  return { result, error }
}

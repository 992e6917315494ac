import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import {
  answerOf,
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../../test/support/tape-of.ts'
import { replayTransport } from './replay-transport.ts'

const INFO = { name: 'tester', version: '9' }

const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  client({ id: 1, method: 'tools/list', params: {} }),
  server({ id: 1, result: { tools: [{ name: 'search', inputSchema: { type: 'object' } }] } }),
  ...call(2, 'search', { q: 'cats' }, 'cats'),
  ...call(3, 'search', { q: 'dogs' }, 'dogs'),
]

test.each([
  ['1', () => new ClientV1(INFO)],
  ['2', () => new ClientV2(INFO)],
])(
  'a client of SDK version %s gets the recorded session, with the server long gone',
  async (_version, make) => {
    const sdk = make()
    await sdk.connect(replayTransport(tapeOf(...SESSION)))
    expect(sdk.getServerVersion()).toEqual({ name: 'recorded-server', version: '1' })
    expect((await sdk.listTools()).tools.map(({ name }) => name)).toEqual(['search'])
    const [dogs, cats] = await Promise.all([search(sdk, 'dogs'), search(sdk, 'cats')])
    expect([dogs, cats]).toEqual(['dogs', 'cats'])
    await sdk.close()
  },
)

test.each([
  ['1', () => new ClientV1(INFO)],
  ['2', () => new ClientV2(INFO)],
])('a miss reaches the caller of SDK version %s as an error that says why', async (_version, make) => {
  const sdk = make()
  const transport = replayTransport(tapeOf(...SESSION), { drift: 'ignore' })
  await sdk.connect(transport)
  await expect(search(sdk, 'birds')).rejects.toMatchObject({
    code: -39404,
    message: expect.stringContaining('REPLAY MISS ARGUMENT_DRIFT: tools/call search {"q":"birds"}'),
    data: {
      kind: 'replay_miss',
      accept: 'replayTransport(tape, { ignore: ["params.arguments.q"] })',
    },
  })
  await sdk.close()
  expect(transport.drift().misses).toHaveLength(1)
})

test.each([
  ['1', () => new ClientV1(INFO)],
  ['2', () => new ClientV2(INFO)],
])('progress reaches the caller of SDK version %s before the answer does', async (_version, make) => {
  const params = { name: 'search', arguments: {}, _meta: { progressToken: 2 } }
  const progress = [1, 2, 3].map((done) =>
    server({ method: 'notifications/progress', params: { progressToken: 2, progress: done } }),
  )
  const tape = tapeOf(
    ...HANDSHAKE,
    client({ id: 2, method: 'tools/call', params }),
    ...progress,
    server(answerOf(2, 'done')),
  )
  const sdk = make()
  await sdk.connect(replayTransport(tape))
  const seen: number[] = []
  const onprogress = ({ progress: done }: { progress: number }): number => seen.push(done)
  if (sdk instanceof ClientV1)
    await sdk.callTool({ name: 'search', arguments: {} }, undefined, { onprogress })
  else await sdk.callTool({ name: 'search', arguments: {} }, { onprogress })
  expect(seen).toEqual([1, 2, 3])
  await sdk.close()
})

test("the caller's own handler answers what the recorded server asked", async () => {
  const tape = tapeOf(
    ...HANDSHAKE,
    client(callOf(0, 'search', {})),
    server({
      id: 0,
      method: 'elicitation/create',
      params: { message: 'sure?', requestedSchema: { type: 'object', properties: {} } },
    }),
    client({ id: 0, result: { action: 'accept', content: {} } }),
    server(answerOf(0, 'sure')),
  )
  const sdk = new ClientV1(INFO, { capabilities: { elicitation: {} } })
  const asked: string[] = []
  sdk.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: {} }
  })
  const transport = replayTransport(tape)
  await sdk.connect(transport)
  expect(textIn(await sdk.callTool({ name: 'search', arguments: {} }))).toBe('sure')
  expect(asked).toEqual(['sure?'])
  await sdk.close()
  expect(transport.drift().notes).toEqual([])
})

test('a modern client that negotiates finds the modern server', async () => {
  const tape = tapeOf(
    client({ id: 1, method: 'server/discover', params: { _meta: ENVELOPE } }),
    server({
      id: 1,
      result: {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern-server', version: '1' } },
      },
    }),
    client({
      id: 2,
      method: 'tools/call',
      params: { name: 'search', arguments: { q: 'cats' }, _meta: ENVELOPE },
    }),
    server({ id: 2, result: { content: [{ type: 'text', text: 'cats' }], resultType: 'complete' } }),
  )
  const sdk = new ClientV2(INFO, { versionNegotiation: { mode: 'auto' } })
  await sdk.connect(replayTransport(tape))
  expect(sdk.getProtocolEra()).toBe('modern')
  expect(await search(sdk, 'cats')).toBe('cats')
  await sdk.close()
})

test('a client that negotiates falls back on a legacy tape', async () => {
  const sdk = new ClientV2(INFO, { versionNegotiation: { mode: 'auto' } })
  const transport = replayTransport(tapeOf(...SESSION), { drift: 'ignore' })
  await sdk.connect(transport)
  expect(sdk.getProtocolEra()).toBe('legacy')
  expect(await search(sdk, 'cats')).toBe('cats')
  await sdk.close()
  expect(transport.drift().misses).toEqual([])
})

test('close fails when recorded requests were left, and closes all the same', async () => {
  const sdk = new ClientV1(INFO)
  const transport = replayTransport(tapeOf(...SESSION))
  await sdk.connect(transport)
  let closed = 0
  Object.assign(sdk, { onclose: () => closed++ })
  await expect(sdk.close()).rejects.toMatchObject({
    code: 'REPLAY_DRIFT',
    message: expect.stringContaining('not requested: #3 tools/call search {"q":"cats"}'),
  })
  expect(closed).toBe(1)
  await expect(transport.close()).resolves.toBeUndefined()
})

test('close fails after a miss that the caller swallowed', async () => {
  const sdk = new ClientV1(INFO)
  await sdk.connect(replayTransport(tapeOf(...HANDSHAKE)))
  await search(sdk, 'x').catch(() => {})
  await expect(sdk.close()).rejects.toMatchObject({ code: 'REPLAY_DRIFT' })
})

test('a permissive run may leave requests and repeat them', async () => {
  const sdk = new ClientV1(INFO)
  await sdk.connect(replayTransport(tapeOf(...SESSION), { permissive: true }))
  expect([await search(sdk, 'cats'), await search(sdk, 'cats')]).toEqual(['cats', 'cats'])
  await sdk.close()
})

test('a handshake that fails shows its own error, not the drift', async () => {
  const sdk = new ClientV1(INFO)
  await expect(sdk.connect(replayTransport(tapeOf()))).rejects.toMatchObject({ code: -39404 })
})

test('a tape without a handshake is played to both SDKs', async () => {
  for (const sdk of [new ClientV1(INFO), new ClientV2(INFO)]) {
    const transport = replayTransport(tapeOf(...call(1, 'search', {}, 'x')))
    await sdk.connect(transport)
    expect((await sdk.listTools()).tools.map(({ name }) => name)).toEqual(['search'])
    expect(await sdk.callTool({ name: 'search' })).toMatchObject({ content: [{ text: 'x' }] })
    expect(transport.drift().notes).toHaveLength(2)
    await sdk.close()
  }
})

test('a connection that never got past the handshake closes without a complaint', async () => {
  const transport = replayTransport(tapeOf(...SESSION))
  await transport.start()
  await transport.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
  await expect(transport.close()).resolves.toBeUndefined()
})

const BREAKING = { faults: [{ tool: 'search', disconnect: true }], drift: 'ignore' } as const

test('a server that breaks off fails the call of the SDK client', async () => {
  const sdk = new ClientV1(INFO)
  await sdk.connect(replayTransport(tapeOf(...SESSION), BREAKING))
  await expect(search(sdk, 'cats')).rejects.toThrow('Connection closed')
})

test('a server that breaks off closes the connection once, whatever the client does then', async () => {
  const transport = replayTransport(tapeOf(...SESSION), BREAKING)
  let closed = 0
  Object.assign(transport, { onclose: () => closed++ })
  await transport.start()
  await transport.send({ jsonrpc: '2.0', ...callOf(1, 'search', { q: 'cats' }) })
  await transport.close()
  await transport.close()
  expect(closed).toBe(1)
})

test('a retry after a fault gets the recorded answer, and close finds no drift', async () => {
  const sdk = new ClientV1(INFO)
  const faults = [{ tool: 'search', nth: 1, error: { code: -32000, message: 'busy' } }]
  await sdk.connect(
    replayTransport(tapeOf(...HANDSHAKE, ...call(2, 'search', { q: 'cats' }, 'cats')), { faults }),
  )
  await expect(search(sdk, 'cats')).rejects.toMatchObject({ code: -32000 })
  expect(await search(sdk, 'cats')).toBe('cats')
  await sdk.close()
})

test('a transport is for one connection', async () => {
  const transport = replayTransport(tapeOf())
  await expect(transport.send({})).rejects.toMatchObject({ code: 'USAGE' })
  await transport.start()
  await expect(transport.start()).rejects.toMatchObject({ code: 'USAGE' })
})

async function search(sdk: ClientV1 | ClientV2, q: string): Promise<unknown> {
  return textIn(await sdk.callTool({ name: 'search', arguments: { q } }))
}

function textIn(result: object): unknown {
  return /"text":"(.*?)"/.exec(JSON.stringify(result))?.[1]
}

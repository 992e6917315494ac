import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { InMemoryTransport } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import type { AnyTransport } from '../../src/link/sdk-transport.ts'
import { recordTransport } from '../../src/record/in-process/record-transport.ts'
import { createRecording } from '../../src/record/recording.ts'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import { listTapes } from '../../src/store/file/list.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { fixtureServer, linesOf, temporaryFolder } from '../support/recorder.ts'
import { callTool, clientOf, SDKS, stdioOf, type AnyClient, type Sdk } from '../support/sdk.ts'

const ANSWERS = { answers: { root: 'file:///nowhere', elicited: {} } }

const everything = (sdk: Sdk): AnyTransport => stdioOf(sdk, referenceServer('server-everything'), {})
const memory = (sdk: Sdk, file: string): AnyTransport =>
  stdioOf(sdk, referenceServer('server-memory'), { MEMORY_FILE_PATH: file })

const sums = (client: AnyClient, from: number): Promise<unknown>[] =>
  Array.from({ length: 20 }, (_, step) => callTool(client, 'get-sum', { a: from, b: step }))

async function connected(sdk: Sdk, transport: AnyTransport): Promise<AnyClient> {
  const client = clientOf(sdk, ANSWERS)
  await client.connect(transport)
  return client
}

describe.each(SDKS)('a transport of SDK %s', (sdk) => {
  test('is recorded on its way to a real server, and the tape answers the same calls', async () => {
    const tape = join(temporaryFolder(), 'a.tape.jsonl')
    const client = await connected(sdk, recordTransport(everything(sdk), { tape, server: 'everything' }))
    const live = await callTool(client, 'get-sum', { a: 2, b: 3 })
    await client.close()
    const recording = await loadTape(tape)
    expect(recording).toMatchObject({ ended: true, problems: [], strays: [] })
    const player = await connected(sdk, replayTransport(recording, { drift: 'ignore' }))
    expect(await callTool(player, 'get-sum', { a: 2, b: 3 })).toEqual(live)
    await player.close()
  })

  test('keeps servers and connections apart when several write to one tape at once', async () => {
    const folder = temporaryFolder()
    const recording = createRecording({ tape: join(folder, 'many.tape.jsonl'), tags: { session: '42' } })
    const clients = await Promise.all([
      connected(sdk, recordTransport(everything(sdk), { recording, server: 'everything' })),
      connected(sdk, recordTransport(memory(sdk, join(folder, 'm')), { recording, server: 'memory' })),
      connected(sdk, recordTransport(everything(sdk), { recording, server: 'everything' })),
    ])
    const [one, notes, two] = clients
    await Promise.all([...sums(one, 100), ...sums(two, 200), callTool(notes, 'read_graph')])
    await Promise.all(clients.map((client) => client.close()))
    expect(await recording.close()).toMatchObject({ loss: undefined })
    const tape = await loadTape(recording.path ?? '')
    expect(tape).toMatchObject({ ended: true, problems: [], strays: [] })
    expect(tape.header).toMatchObject({ tags: { session: '42' } })
    expect(Object.keys(tape.header.servers).toSorted()).toEqual(['everything', 'memory'])
    const calls = tape.turns.flatMap(({ trigger }) =>
      trigger?.text.includes('tools/call') ? [`${trigger.server} ${trigger.conn}`] : [],
    )
    const count = (place: string): number => calls.filter((call) => call === place).length
    expect([count('everything 1'), count('everything 2'), count('memory 1')]).toEqual([20, 20, 1])
    expect(await listTapes(folder)).toMatchObject([{ kind: 'tape', servers: ['everything', 'memory'] }])
  })
})

test('the transport of a server is recorded with the directions swapped', async () => {
  const tape = join(temporaryFolder(), 'a.tape.jsonl')
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [] }))
  await server.connect(recordTransport(far, { tape, server: 's', side: 'server' }))
  const client = await connected('v2', near)
  await client.listTools()
  await client.close()
  const said = linesOf(tape).flatMap(({ dir, msg, event }) => {
    const { method } = (msg ?? {}) as { method?: string }
    return [event ?? `${String(dir)} ${method ?? 'answer'}`]
  })
  expect(said.slice(1)).toEqual([
    'start',
    'c2s initialize',
    's2c answer',
    'c2s notifications/initialized',
    'c2s tools/list',
    's2c answer',
    'close',
    'end',
  ])
})

/** A transport that notes what is done to it. */
function bareTransport(more: Partial<AnyTransport> = {}): AnyTransport & { readonly sent: unknown[][] } {
  const sent: unknown[][] = []
  const transport: AnyTransport & { readonly sent: unknown[][] } = {
    sent,
    start: async () => {},
    send: async (...args) => void sent.push(args),
    close: async () => transport.onclose?.(),
    ...more,
  }
  return transport
}

const OWN = (): { tape: string; server: string } => ({
  tape: join(temporaryFolder(), 'a.tape.jsonl'),
  server: 's',
})
const OPTIONAL = ['sessionId', 'setProtocolVersion', 'setSupportedProtocolVersions', 'hasPerRequestStream']

test('optional members exist only if the inner transport has them, even if they are added late', () => {
  const bare = bareTransport()
  const recorded = recordTransport(bare, OWN())
  expect(OPTIONAL.filter((name) => name in recorded)).toEqual([])
  bare.sessionId = 'late'
  expect([recorded.sessionId, 'sessionId' in recorded]).toEqual(['late', true])
  const versions: unknown[] = []
  const full = recordTransport(
    bareTransport({
      sessionId: 'a',
      hasPerRequestStream: true,
      setProtocolVersion: (version) => versions.push(version),
      setSupportedProtocolVersions: (all) => versions.push(all),
    }),
    OWN(),
  )
  expect(OPTIONAL.filter((name) => name in full)).toEqual(OPTIONAL)
  full.setProtocolVersion?.('2025-11-25')
  full.setSupportedProtocolVersions?.(['2025-11-25'])
  expect([full.hasPerRequestStream, versions]).toEqual([true, ['2025-11-25', ['2025-11-25']]])
})

test('messages, options and extras are passed on as the same objects, to earlier callbacks too', async () => {
  const heard: unknown[] = []
  const inner = bareTransport({ onmessage: (...args) => heard.push(['before', ...args]) })
  const recorded = recordTransport(inner, OWN())
  Object.assign(recorded, { onmessage: (...args: unknown[]) => heard.push(['after', ...args]) })
  await recorded.start()
  const [message, options, extra] = [{ jsonrpc: '2.0', method: 'm' }, { requestSignal: 1 }, { authInfo: 1 }]
  await recorded.send(message, options)
  inner.onmessage?.(message, extra)
  expect(inner.sent[0]?.[0]).toBe(message)
  expect(inner.sent[0]?.[1]).toBe(options)
  expect(heard).toEqual([
    ['before', message, extra],
    ['after', message, extra],
  ])
})

test('the close is reported once, whether the inner transport reports it once, twice or not at all', async () => {
  const closings: Partial<AnyTransport>[] = [
    {},
    { close: async () => {} },
    {
      async close() {
        this.onclose?.()
        this.onclose?.()
      },
    },
  ]
  for (const closing of closings) {
    let told = 0
    const recorded = recordTransport(bareTransport(closing), OWN())
    Object.assign(recorded, { onclose: () => told++ })
    await recorded.start()
    await recorded.close()
    await recorded.close()
    expect(told).toBe(1)
  }
})

test('an error of the inner transport reaches the caller unchanged, and is on the tape', async () => {
  const own = OWN()
  const refusal = new Error('no')
  const inner = bareTransport({ send: () => Promise.reject(refusal) })
  const recorded = recordTransport(inner, own)
  const errors: Error[] = []
  Object.assign(recorded, { onerror: (error: Error) => errors.push(error) })
  await recorded.start()
  await expect(recorded.send({ jsonrpc: '2.0', method: 'm' })).rejects.toBe(refusal)
  inner.onerror?.(refusal)
  expect(errors[0]).toBe(refusal)
  await recorded.close()
  expect(linesOf(own.tape).filter(({ event }) => event === 'error')).toMatchObject([
    { server: 's', conn: 1, message: 'no' },
    { message: 'no' },
  ])
})

test('the session continues if the tape cannot be created', async () => {
  const blocked = join(temporaryFolder(), 'file')
  writeFileSync(blocked, '')
  const recording = createRecording({ tape: join(blocked, 'a.tape.jsonl') })
  const transport = recordTransport(stdioOf('v2', fixtureServer('modern'), {}), { recording, server: 's' })
  const client = await connected('v2', transport)
  expect(await client.listTools()).toHaveProperty('tools')
  await client.close()
  expect(await recording.close()).toMatchObject({ path: undefined, frames: 0 })
})

test('a value without a JSON form is passed on and noted on the tape, and later messages are recorded', async () => {
  const own = OWN()
  const inner = bareTransport()
  const recorded = recordTransport(inner, own)
  await recorded.start()
  await recorded.send({ jsonrpc: '2.0', method: 'm', params: { big: 1n } })
  await recorded.send({ jsonrpc: '2.0', method: 'm' })
  await recorded.close()
  expect(inner.sent).toHaveLength(2)
  expect(linesOf(own.tape).slice(2, 4)).toMatchObject([
    { dir: 'c2s', raw: '[object Object]', why: 'not JSON: Do not know how to serialize a BigInt' },
    { dir: 'c2s', msg: { method: 'm' } },
  ])
})

import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import {
  call,
  client,
  ENVELOPE,
  HANDSHAKE,
  type Said,
  server as serverSays,
  tapeOf,
} from '../../test/support/tape-of.ts'
import type { Tape } from '../store/file/read.ts'
import { replayTransport } from '../serve/replay-transport.ts'
import { member } from '../json/parse.ts'
import { replay } from './replay.ts'
import { transportTarget, urlTarget } from './targets.ts'

const tape = tapeOf(...HANDSHAKE, ...call(1, 'search', { q: 'milk' }, 'two cartons'))

test('a served tape stands for the server, in memory', async () => {
  const target = transportTarget(() => replayTransport(tape, { drift: 'ignore' }), 'the tape itself')
  const { summary } = await replay(tape, { target, allowWrites: true }).report
  expect(summary).toMatchObject({ target: 'the tape itself', verdict: 'pass', sent: 1 })
})

test.each(['legacy', 'modern'] as const)(
  'a tape of the %s era that lists tools verifies against itself: Reelay asks for them with the recorded requests',
  async (era) => {
    const listed = toolsTape(era)
    const asked: string[] = []
    const target = transportTarget(() => {
      const transport = replayTransport(listed, { drift: 'ignore' })
      const send = transport.send.bind(transport)
      transport.send = (message) => {
        asked.push(String(member(message, 'method')))
        return send(message)
      }
      return transport
    })
    const { summary, steps } = await replay(listed, { target }).report
    expect([...steps].flatMap(({ findings }) => findings)).toEqual([])
    expect(summary).toMatchObject({ verdict: 'pass', sent: 4, held: 0 })
    expect(asked.filter((method) => method === 'tools/list')).toHaveLength(2)
  },
)

function readOnlyTool(name: string): object {
  return { name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
}

/** A session that reads a resource, lists its tools on two pages, and calls one of the second page. */
function toolsTape(era: 'legacy' | 'modern'): Tape {
  const meta = era === 'modern' ? { _meta: ENVELOPE } : {}
  const exchange = (id: number, method: string, params: object, result: object): readonly Said[] => [
    client({ id, method, params: { ...params, ...meta } }),
    serverSays({ id, result: era === 'modern' ? { resultType: 'complete', ...result } : result }),
  ]
  return tapeOf(
    ...(era === 'legacy' ? HANDSHAKE : []),
    ...exchange(1, 'resources/read', { uri: 'a:b' }, { contents: [] }),
    ...exchange(2, 'tools/list', {}, { tools: [readOnlyTool('other')], nextCursor: 'page-2' }),
    ...exchange(3, 'tools/list', { cursor: 'page-2' }, { tools: [readOnlyTool('search')] }),
    ...exchange(4, 'tools/call', { name: 'search', arguments: {} }, { content: [] }),
  )
}

test('an endpoint gets the headers that were given, with every request', async () => {
  const { url, heads } = await endpoint()
  const target = urlTarget(`${url}?key=s3cret`, { headers: { authorization: 'Bearer t' } })
  const { summary } = await replay(tape, { target, allowWrites: true }).report
  expect(summary).toMatchObject({ target: url, verdict: 'pass', sent: 1 })
  expect(new Set(heads.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer t']))
  expect(heads.length).toBeGreaterThanOrEqual(3)
})

/** Answers every POST with JSON, and has no stream of its own. */
async function endpoint(): Promise<{ url: string; heads: IncomingHttpHeaders[] }> {
  const heads: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    heads.push(request.headers)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: unknown; method: string }
      if (id === undefined) return void response.writeHead(202).end()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`, heads }
}

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'recorded-server', version: '1' },
  },
  'tools/list': { tools: [] },
  'tools/call': { content: [{ type: 'text', text: 'two cartons' }] },
}

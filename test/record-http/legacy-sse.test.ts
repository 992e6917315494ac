import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { httpServer, recordUrl, type Listener } from '../support/http.ts'
import { httpOf } from '../support/http-servers.ts'
import { clientOf, SDKS } from '../support/sdk.ts'

const ANSWERS = { root: 'file:///nowhere', elicited: {} }
const RESULT = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'old', version: '1' } }

test.each(SDKS.flatMap((sdk) => [true, false].map((absolute) => ({ sdk, absolute }))))(
  'a client of SDK $sdk reaches an endpoint through the recorder when it is absolute: $absolute',
  async ({ sdk, absolute }) => {
    const posted: string[] = []
    const server = await httpServer((req, res) => oldServer(absolute ? server.origin : '', posted)(req, res))
    const { url, origin, tape, lines } = await recordUrl(`${server.origin}/sse`)
    const clients = [1, 2].map(() => clientOf(sdk, { answers: ANSWERS }))
    for (const client of clients) await client.connect(httpOf(sdk, 'sse', url))
    for (const client of clients) await client.ping()
    for (const client of clients) await client.close()
    const recorded = await lines()
    const endpoints = recorded.filter(({ event }) => event === 'sse').map(({ data }) => data)
    const sessions = [...streams.keys()].slice(-2)
    const paths = recorded.flatMap(({ http }) => (Object(http)['path'] as string | undefined) ?? [])
    for (const [index, data] of endpoints.entries()) {
      expect(data).toMatch(new RegExp(`^${absolute ? server.origin : ''}/message\\?sessionId=[0-9a-f-]{36}$`))
      expect(data).not.toBe(`${absolute ? server.origin : ''}${sessions[index]}`)
      expect(paths).toContain(String(data).replace(/^http:..[^/]+/, '')) // the same stand-in where it is used
    }
    expect(new Set(endpoints).size).toBe(2)
    expect(posted.every((host) => `http://${host}` === origin)).toBe(true)
    const { turns, strays } = await loadTape(tape)
    expect(strays).toEqual([])
    expect(
      turns.map(({ trigger, response }) => [methodOf(trigger?.text), trigger?.conn, response?.conn]),
    ).toEqual([
      ['initialize', 1, 1],
      ['notifications/initialized', 1, undefined],
      ['initialize', 2, 2],
      ['notifications/initialized', 2, undefined],
      ['ping', 1, 1],
      ['ping', 2, 2],
    ])
  },
)

function methodOf(message = ''): unknown {
  return Object(JSON.parse(message))['method']
}

const streams = new Map<string, ServerResponse>()

/** A server of 2024-11-05: a stream that names where to post, and answers on that stream. */
function oldServer(origin: string, posted: string[]): Listener {
  return async (req, res) => {
    if (req.method === 'GET') {
      const path = `/message?sessionId=${crypto.randomUUID()}`
      streams.set(path, res.writeHead(200, { 'Content-Type': 'text/event-stream' }))
      res.write(`event: endpoint\ndata: ${origin}${path}\n\n`)
      return
    }
    posted.push(String(req.headers.host))
    const { id, method } = JSON.parse(await text(req)) as { id?: number; method: string }
    res.writeHead(202).end('Accepted')
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result: method === 'ping' ? {} : RESULT })
    if (id !== undefined) streams.get(req.url ?? '')?.write(`event: message\ndata: ${answer}\n\n`)
  }
}

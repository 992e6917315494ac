import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import type { Turn } from '../../src/tape/turns.ts'
import { ask, httpServer, open, post, recordUrl, type Listener } from '../support/http.ts'

const STREAM = { 'Content-Type': 'text/event-stream' }
const MODERN = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }

interface Call {
  readonly id: number
  readonly params: { readonly who: string }
}

test('stateless clients that all count from 1, in parallel, are paired right', async () => {
  const waiting: (() => void)[] = []
  const { origin } = await httpServer(async (req, res) => {
    const { id, params } = JSON.parse(await text(req)) as Call
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', to: params.who } })
    waiting.push(() => res.writeHead(200, STREAM).end(`data: ${answer}\n\n`))
    if (waiting.length === 6) for (const go of waiting.toReversed()) go()
  })
  const { url, tape, lines } = await recordUrl(`${origin}/mcp`)
  const call = (id: number, who: string): Promise<unknown> =>
    ask(url, post({ jsonrpc: '2.0', id, method: 'tools/call', params: { who, _meta: MODERN } }))
  await Promise.all([1, 2, 3].flatMap((id) => [call(id, `a${id}`), call(id, `b${id}`)]))
  await lines()
  const { turns, strays } = await loadTape(tape)
  expect(strays).toEqual([])
  expect(turns.map(whoAndTo).toSorted()).toEqual(['a1 a1', 'a2 a2', 'a3 a3', 'b1 b1', 'b2 b2', 'b3 b3'])
  expect(new Set(turns.map(({ trigger }) => trigger?.conn)).size).toBe(6)
})

test('a request of the server on one stream is paired with the response that the client posts in the same session', async () => {
  const { origin } = await httpServer(sessionServer())
  const { url, tape, lines } = await recordUrl(`${origin}/mcp`)
  const sessions = await Promise.all(['one', 'two'].map((who) => askedSession(url, who)))
  expect(sessions).toEqual(['one', 'two'])
  await lines()
  const { turns, strays } = await loadTape(tape)
  expect(strays).toEqual([])
  const asked = turns.flatMap(({ trigger, steps }) =>
    steps.flatMap((step) =>
      step.kind === 'ask' ? [[trigger?.conn, step.request.text, step.answer?.conn, step.answer?.text]] : [],
    ),
  )
  expect(asked).toHaveLength(4) // on the POST's stream and on the GET's, in both sessions
  for (const [conn, request, answerConn, answer] of asked) {
    expect(answerConn).toBe(conn)
    expect(String(answer)).toContain(
      `"result":${JSON.stringify(/"params":(\{.*?\})/.exec(String(request))?.[1])}`,
    )
  }
})

test('a stream that is resumed with Last-Event-ID brings the response to the waiting request', async () => {
  const { origin } = await httpServer((req, res) => {
    res.writeHead(200, { ...STREAM, 'Mcp-Session-Id': 'abc' })
    const last = req.headers['last-event-id']
    if (req.method === 'POST') res.end('id: s::1\nretry: 20\ndata: \n\n')
    else res.end(last === 's::1' ? 'id: s::2\ndata: {"jsonrpc":"2.0","id":7,"result":{}}\n\n' : '')
  })
  const { url, tape, lines } = await recordUrl(`${origin}/mcp`)
  await ask(url, post({ jsonrpc: '2.0', id: 7, method: 'tools/call' }, { 'Mcp-Session-Id': 'abc' }))
  const resumed = await ask(url, { headers: { 'Mcp-Session-Id': 'abc', 'Last-Event-ID': 's::1' } })
  expect(resumed.body.toString()).toContain('"id":7')
  const recorded = await lines()
  expect(recorded.find(({ event }) => event === 'sse')).toMatchObject({ sse: { id: 's::1', retry: 20 } })
  expect(JSON.stringify(recorded)).toContain('["Last-Event-ID","s::1"]')
  const { turns } = await loadTape(tape)
  expect(turns).toMatchObject([{ trigger: { x: 1, conn: 1 }, response: { x: 2, conn: 1 } }])
})

function whoAndTo({ trigger, response }: Turn): string {
  const who = /"who":"(\w+)"/.exec(trigger?.text ?? '')?.[1]
  return `${who} ${/"to":"(\w+)"/.exec(response?.text ?? '')?.[1]}`
}

/** Asks on the GET's stream and on the call's own; answers the call when both were answered. Ids are the same in every session. */
function sessionServer(): Listener {
  const sessions = new Map<
    string,
    { listening?: ServerResponse; calling?: ServerResponse; answers: number }
  >()
  return async (req, res) => {
    const name = String(req.headers['mcp-session-id'])
    const session = sessions.get(name) ?? { answers: 0 }
    sessions.set(name, session)
    if (req.method === 'GET') {
      session.listening = res.writeHead(200, STREAM)
      res.flushHeaders()
      return
    }
    const message = JSON.parse(await text(req)) as Record<string, unknown>
    if ('method' in message) {
      session.calling = res.writeHead(200, STREAM)
      res.write(sampling(0, { on: 'post', in: name }))
      session.listening?.write(sampling(1, { on: 'get', in: name }))
    } else {
      res.writeHead(202).end()
      if (++session.answers === 2) session.calling?.end('data: {"jsonrpc":"2.0","id":0,"result":{}}\n\n')
    }
  }
}

function sampling(id: number, params: object): string {
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id, method: 'sampling/createMessage', params })}\n\n`
}

/** One client: it answers each request with the text of its params. */
async function askedSession(url: string, who: string): Promise<string> {
  const headers = { 'Mcp-Session-Id': who }
  const listening = await open(url, { headers })
  listening.on('error', () => {})
  const calling = await open(url, post({ jsonrpc: '2.0', id: 0, method: 'tools/call' }, headers))
  const reply = async (chunk: Buffer): Promise<void> => {
    const [, id, params] = /"id":(\d).*"params":(\{.*?\})/.exec(chunk.toString()) ?? []
    if (id === undefined) return
    await ask(url, post({ jsonrpc: '2.0', id: Number(id), result: params }, headers))
  }
  for (const stream of [listening, calling]) stream.on('data', (chunk: Buffer) => void reply(chunk))
  await new Promise((resolve) => calling.on('end', resolve))
  listening.destroy()
  return who
}

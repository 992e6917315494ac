import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { streamableHttpLink, type StreamableHttpLinkOptions } from '../../src/link/streamable-http.ts'
import type { RetryScheduler } from '../../src/link/event-streams.ts'
import { idKey, META_KEYS } from '../../src/protocol/message.ts'
import { httpServer, type Listener } from '../support/http.ts'
import { until } from '../support/recorder.ts'
import { answer, opened, request, type Heard } from './link.ts'

const EVENTS = { 'content-type': 'text/event-stream' }

async function linkTo(listener: Listener, options: Partial<StreamableHttpLinkOptions> = {}): Promise<Heard> {
  const { origin } = await httpServer(listener)
  return opened(streamableHttpLink({ url: new URL(`${origin}/mcp`), ...options }))
}

/** Does at once what is to be done later, and tells after how long it would have been. */
function atOnce(): { later: RetryScheduler; waits: number[] } {
  const waits: number[] = []
  return {
    waits,
    later: (act, milliseconds) => {
      waits.push(milliseconds)
      setImmediate(act)
    },
  }
}

/** Answers every request with an empty result. */
async function answerAll(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { id } = JSON.parse((await text(req)) || '{}') as { id?: number }
  if (id === undefined) return void res.writeHead(202).end()
  res.writeHead(200, { 'content-type': 'application/json' }).end(answer(id))
}

test('requests that follow each other use the same connection', async () => {
  const sockets = new Set<Socket>()
  const { link, texts, count } = await linkTo(async (req, res) => {
    sockets.add(req.socket)
    await answerAll(req, res)
  })
  for (let id = 1; id <= 5; id++) {
    link.send(request(id))
    await count(id)
  }
  expect(texts).toEqual([1, 2, 3, 4, 5].map((id) => answer(id)))
  expect(sockets.size).toBe(1)
})

test('a connection that the server closes after its response is not used again', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.once('data', () => {
      const body = answer(connections)
      socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    })
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const { link, texts, count } = await opened(streamableHttpLink({ url }))
  link.send(request(1))
  await count(1)
  link.send(request(2))
  await count(2)
  expect(texts).toEqual([answer(1), answer(2)])
  expect(connections).toBe(2)
})

test('a connection that the server closed while it was idle is not used again, and nothing is lost', async () => {
  const sockets: Socket[] = []
  const { link, texts, lost, count } = await linkTo(async (req, res) => {
    sockets.push(req.socket)
    await answerAll(req, res)
  })
  link.send(request(1))
  await count(1)
  sockets[0]?.destroy()
  await once(sockets[0] as Socket, 'close')
  await until(() => sockets[0]?.destroyed === true)
  await new Promise(setImmediate)
  link.send(request(2))
  await count(2)
  expect([texts.length, lost]).toEqual([2, []])
})

test.each([
  [401, '', /^#1 the server answered HTTP 401 \(unauthorized\)$/],
  [404, 'no such page', /^#1 the server answered HTTP 404 .*: no such page$/],
  [500, 'oops', /^#1 the server answered HTTP 500: oops$/],
  [
    302,
    '',
    /^#1 the server answered HTTP 302 \(a redirect that is not followed: give the new address instead\)$/,
  ],
])('an answer of HTTP %i is named, and the request is lost', async (status, body, words) => {
  const asked: string[] = []
  const { link, lost, count } = await linkTo((req, res) => {
    asked.push(String(req.url))
    res.writeHead(status, { location: '/elsewhere' }).end(body)
  })
  link.send(request(1))
  await count(1)
  expect(lost).toEqual([expect.stringMatching(words)])
  expect(asked).toEqual(['/mcp'])
})

test('a JSON-RPC error is a response, whatever its HTTP status', async () => {
  const error = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
  const { link, texts, lost, count } = await linkTo((_, res) => void res.writeHead(404).end(error))
  link.send(request(1))
  await count(1)
  expect([texts, lost]).toEqual([[error], []])
})

test('the session id is in every request after the first, and the session is ended with DELETE', async () => {
  const seen: string[] = []
  const { link, count } = await linkTo(async (req, res) => {
    const { 'mcp-session-id': session, 'mcp-protocol-version': version } = req.headers
    seen.push([req.method, String(session), String(version)].join(' '))
    if (req.method !== 'POST') return void res.writeHead(405).end()
    res.setHeader('mcp-session-id', 's-1')
    const { id } = JSON.parse(await text(req)) as { id: number }
    res.writeHead(200).end(answer(id, { protocolVersion: '2025-11-25' }))
  })
  link.send(request(1, 'initialize'))
  await count(1)
  link.send(request(2))
  await count(2)
  await link.close()
  await link.close()
  expect(seen).toEqual(['POST undefined undefined', 'POST s-1 2025-11-25', 'DELETE s-1 2025-11-25'])
})

test('a server that does not respond to the DELETE does not block the client', async () => {
  const { link, count } = await linkTo((req, res) => {
    if (req.method !== 'POST') return
    res.setHeader('mcp-session-id', 's-1')
    return answerAll(req, res)
  })
  link.send(request(1))
  await count(1)
  await expect(link.close()).resolves.toBeUndefined()
})

test('a stream that ends before the response is resumed after its last event', async () => {
  const resumed: unknown[] = []
  const { link, texts, count } = await linkTo((req, res) => {
    res.writeHead(200, EVENTS)
    if (req.method === 'POST') return void res.end('id: e-7\nretry: 10\ndata:\n\n')
    resumed.push(req.headers['last-event-id'])
    res.write(`id: e-8\ndata: ${answer(1)}\n\n`)
  })
  link.send(request(1))
  await count(1)
  expect([texts, resumed]).toEqual([[answer(1)], ['e-7']])
})

test('an interrupted stream is resumed after the delay that the server chose, each time after the last event', async () => {
  const resumed: unknown[] = []
  const { later, waits } = atOnce()
  const { link, texts, lost, count } = await linkTo(
    (req, res) => {
      res.writeHead(200, EVENTS)
      if (req.method === 'POST') return void res.end('id: e-1\nretry: 70\ndata:\n\n')
      resumed.push(req.headers['last-event-id'])
      if (resumed.length === 1) return void res.end('id: e-2\nretry: 90\ndata:\n\n')
      if (resumed.length < 4) return void res.end()
      res.write(`id: e-3\ndata: ${answer(1)}\n\n`)
    },
    { later },
  )
  link.send(request(1))
  await count(1)
  expect([texts, lost]).toEqual([[answer(1)], []])
  expect(resumed).toEqual(['e-1', 'e-2', 'e-2', 'e-2'])
  expect(waits).toEqual([70, 90, 180, 360])
})

test('a stream that breaks off in the middle is resumed too', async () => {
  const { later } = atOnce()
  const { link, texts, lost, count } = await linkTo(
    (req, res) => {
      res.writeHead(200, EVENTS)
      if (req.method === 'GET') return void res.write(`id: e-2\ndata: ${answer(1)}\n\n`)
      res.write('id: e-1\ndata:\n\n', () => req.socket.destroy())
    },
    { later },
  )
  link.send(request(1))
  await count(1)
  expect([texts, lost]).toEqual([[answer(1)], []])
})

test('a request is lost if the server does not resume its stream', async () => {
  const { later } = atOnce()
  const { link, lost, count } = await linkTo(
    (req, res) => {
      if (req.method === 'GET') return void res.writeHead(405).end()
      res.writeHead(200, EVENTS).end('id: e-1\ndata:\n\n')
    },
    { later },
  )
  link.send(request(1))
  await count(1)
  expect(lost).toEqual([
    '#1 the stream ended without a response, and it could not be continued: the server answered HTTP 405',
  ])
})

test('messages that a server sends right after initialization are received', async () => {
  const told = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
  let listener: ServerResponse | undefined
  const { link, texts, count } = await linkTo(async (req, res) => {
    if (req.method === 'GET') {
      listener = res.writeHead(200, EVENTS)
      return res.flushHeaders()
    }
    const { id } = JSON.parse(await text(req)) as { id?: number }
    if (id !== undefined) return void res.writeHead(200).end(answer(id))
    listener?.write(`data: ${told}\n\n`)
    res.writeHead(202).end()
  })
  link.send(request(1, 'initialize'))
  await count(1)
  link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  await count(2)
  expect(texts).toEqual([answer(1), told])
})

test('a server that refuses the stream before initialization is asked again', async () => {
  const asked: string[] = []
  const told = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
  const { link, texts, count } = await linkTo(async (req, res) => {
    asked.push(String(req.method))
    if (req.method === 'POST') return answerAll(req, res)
    if (asked.filter((method) => method === 'GET').length === 1) return void res.writeHead(400).end()
    res.writeHead(200, EVENTS).write(`data: ${told}\n\n`)
  })
  link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  await count(1)
  expect([texts, asked.toSorted()]).toEqual([[told], ['GET', 'GET', 'POST']])
})

test('a request is lost if its stream ends without a response and without an event id', async () => {
  const { link, lost, count } = await linkTo((_, res) => void res.writeHead(200, EVENTS).end(': nothing\n\n'))
  link.send(request(1))
  await count(1)
  expect(lost).toEqual([expect.stringContaining('the stream ended without a response')])
})

test('a modern request is cancelled by closing its stream, a legacy one is not', async () => {
  const closed: string[] = []
  const asked: string[] = []
  const { link } = await linkTo(async (req, res) => {
    const { method } = JSON.parse(await text(req)) as { method: string }
    asked.push(method)
    res.writeHead(200, EVENTS).flushHeaders()
    res.once('close', () => void closed.push(method))
  })
  const envelope = { _meta: { [META_KEYS.protocolVersion]: '2026-07-28' } }
  link.send(request(1, 'legacy/wait'))
  link.send(request(2, 'modern/wait', envelope))
  await until(() => asked.length === 2)
  expect([1, 2].map((id) => link.abort?.(idKey(id)))).toEqual([false, true])
  await until(() => closed.length === 1)
  expect(closed).toEqual(['modern/wait'])
})

test('a header with a line break is never sent, and the request fails', async () => {
  const seen: object[] = []
  const bad = { headers: { authorization: 'Bearer x\r\nx-evil: 1' } }
  const { link, lost, count } = await linkTo((req, res) => {
    seen.push(req.headers)
    return answerAll(req, res)
  }, bad)
  link.send(request(1))
  await count(1)
  expect(lost).toEqual([expect.stringContaining('the header "authorization" cannot be sent')])
  expect(seen).toEqual([])
})

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  type ServedHandler,
  type ServedRequest,
  type ServedResponse,
  createHttpServer,
  listenOn,
} from '../../src/http/server/http-server.ts'
import { FastListener } from '../../src/http/server/fast-listener.ts'
import { rawClient } from '../support/raw-http.ts'

const HOST = 'Host: 127.0.0.1'
const US = ['X-Read-By: us', 'Content-Length: 2', 'Connection: keep-alive', 'Keep-Alive: timeout=65']
const NODE = ['X-Read-By: Node', ...US.slice(1)]

test('a simple request is read by the fast listener, any other by Node, and both get the same response', async () => {
  const { url } = await listening(sayWho)
  const [plain, other] = [rawClient(url), rawClient(url)]
  await plain.write(posted('a'))
  await other.write('P', posted('a').slice(1))
  expect(await plain.answer()).toEqual({ status: 200, headers: US, body: 'ok' })
  expect(await other.answer()).toEqual({ status: 200, headers: NODE, body: 'ok' })
})

test('a body may arrive in pieces, and one request may follow the other', async () => {
  const { url, bodies } = await listening(sayWho)
  const client = rawClient(url)
  const text = posted('abcdef')
  const cuts = [text.length - 6, text.length - 5, text.length]
  for (const cut of cuts) {
    await client.write(text.slice(0, cut), text.slice(cut, cut + 2), text.slice(cut + 2))
    expect((await client.answer()).headers).toEqual(US)
  }
  expect(bodies).toEqual(cuts.map(() => 'abcdef'))
})

test.each([
  ['another method', `GET / HTTP/1.1\r\n${HOST}\r\n\r\n`],
  ['another version', `POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na`],
  ['chunks', `POST / HTTP/1.1\r\n${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`],
  ['an empty line before it', `\r\n${posted('a')}`],
  ['a value that is not ASCII', posted('a', 'A: \u00e9')],
  ['a header twice', posted('a', 'A: b', 'A: c')],
  ['a question before the body', posted('a', 'Expect: 100-continue')],
])('a request with %s is answered by way of Node, and so is what follows', async (_, text) => {
  const { url } = await listening(sayWho)
  const client = rawClient(url)
  await client.write(text)
  expect(await client.answer()).toEqual({ status: 200, headers: NODE, body: 'ok' })
  await client.write(posted('a'))
  expect((await client.answer()).headers).toEqual(NODE)
})

test.each([
  ['a length that differs', posted('a', 'Content-Length: 2')],
  ['a length and chunks', posted('a', 'Transfer-Encoding: chunked')],
  ['a length that is none', posted('a').replace('Length: 1', 'Length: +1')],
  ['a space before the colon', posted('a', 'A : b')],
  ['a line feed alone', posted('a', 'A: b\nC: d')],
  ['a zero', posted('a', 'A: b\0')],
  ['no host', posted('a').replace(`${HOST}\r\n`, '')],
  ['no HTTP in it', 'hello\r\n\r\n'],
])('a request with %s is refused, and the connection is closed', async (_, text) => {
  const { url, bodies } = await listening(sayWho)
  const client = rawClient(url)
  await client.write(posted('a'))
  await client.answer()
  await client.write(text)
  expect((await client.answer()).status).toBe(400)
  await client.closed
  expect(bodies).toEqual(['a'])
})

test('a head that is too long ends the connection', async () => {
  const { url, bodies } = await listening(sayWho)
  const client = rawClient(url)
  await client.write(posted('a', `A: ${'b'.repeat(200 * 1024)}`))
  await client.closed
  expect(bodies).toEqual([])
})

test('pipelined requests get their responses in order', async () => {
  const { url, bodies } = await listening(sayWho)
  const [together, early] = [rawClient(url), rawClient(url)]
  await together.write(posted('1') + posted('2'))
  const answers = [await together.answer(), await together.answer()]
  expect([...answers.map(({ status }) => status), ...bodies.splice(0)]).toEqual([200, 200, '1', '2'])
  const text = posted('3')
  await early.write(text.slice(0, -1), text.slice(-1) + posted('4') + posted('5').slice(0, 20))
  await early.write(posted('5').slice(20))
  for (let nth = 0; nth < 3; nth++) expect((await early.answer()).status).toBe(200)
  expect(bodies).toEqual(['3', '4', '5'])
})

test('a request that arrives before the response to the last one waits for it', async () => {
  const held: ServedResponse[] = []
  const { url } = await listening((_, res) => void held.push(res))
  const client = rawClient(url)
  await client.write(posted('1'), posted('2'))
  expect(held.length).toBe(1)
  held[0]?.writeHead(200, { 'Content-Length': 1 }).end('1')
  expect((await client.answer()).body).toBe('1')
  while (held.length < 2) await new Promise((resolve) => setImmediate(resolve))
  held[1]?.writeHead(200, { 'Content-Length': 1 }).end('2')
  expect((await client.answer()).body).toBe('2')
})

test('a connection is closed after the response if the client or the response asks for it', async () => {
  const { url } = await listening((req, res) => {
    const headers = req.url === '/last' ? { Connection: 'close' } : {}
    res.writeHead(200, { 'Content-Length': 2, ...headers }).end('ok')
  })
  const [asking, told] = [rawClient(url), rawClient(url)]
  await asking.write(posted('a', 'Connection: close'))
  await told.write(posted('a').replace('POST /', 'POST /last'))
  for (const client of [asking, told]) {
    expect((await client.answer()).headers).toEqual(['Content-Length: 2', 'Connection: close'])
    await client.closed
  }
})

test('a response without a length and a stream are sent in chunks', async () => {
  const { url } = await listening((req, res) => {
    if (req.url === '/') return void res.writeHead(202).end()
    res.writeHead(200, { A: 'b' }).flushHeaders()
    res.write('one, ')
    setImmediate(() => {
      res.write('zwölf')
      res.end()
    })
  })
  const client = rawClient(url)
  const kept = ['Connection: keep-alive', 'Keep-Alive: timeout=65', 'Transfer-Encoding: chunked']
  await client.write(posted('a'))
  expect(await client.answer()).toEqual({ status: 202, headers: kept, body: '' })
  await client.write(posted('a').replace('POST /', 'POST /stream'))
  expect(await client.answer()).toEqual({ status: 200, headers: ['A: b', ...kept], body: 'one, zwölf' })
})

test('the handler is notified when the client has disconnected or received everything', async () => {
  const told: string[] = []
  const { url } = await listening((req, res) => {
    if (req.url === '/late') res.writeHead(200, { 'Content-Length': 2 }).end('ok')
    res.on('close', () => told.push(`${req.url} ${res.writableEnded}`))
    if (req.url === '/now') res.writeHead(200, { 'Content-Length': 2 }).end('ok')
  })
  const [served, gone, silent] = [rawClient(url), rawClient(url), rawClient(url)]
  await served.write(posted('a').replace('POST /', 'POST /now'))
  await served.answer()
  await served.write(posted('a').replace('POST /', 'POST /late'))
  await served.answer()
  await gone.write(posted('a').replace('POST /', 'POST /gone'))
  gone.socket.destroy()
  await silent.write(posted('a').replace('POST /', 'POST /silent'))
  silent.socket.end()
  await silent.closed
  while (told.length < 4) await new Promise((resolve) => setImmediate(resolve))
  expect(told.toSorted()).toEqual(['/gone false', '/late true', '/now true', '/silent false'])
})

test('nothing more is read from a client that does not read its responses', async () => {
  const { url, bodies, sockets } = await listening((_, res) => {
    res.writeHead(200, { 'Content-Length': LONG.length }).end(LONG)
  })
  const client = rawClient(url)
  client.socket.pause()
  await client.write(posted('1'))
  while (bodies.length < 1) await new Promise((resolve) => setImmediate(resolve))
  expect(sockets[0]?.isPaused()).toBe(true)
  await client.write(posted('2'))
  client.socket.resume()
  expect((await client.answer()).body.length).toBe(LONG.length)
  expect((await client.answer()).body.length).toBe(LONG.length)
  expect(bodies).toEqual(['1', '2'])
})

test('an idle connection is closed, but not while a response is pending or unread', async () => {
  const held: ServedResponse[] = []
  const { url } = await listening((_, res) => void held.push(res), { keepAliveTimeout: 1 })
  const [waiting, slow] = [rawClient(url), rawClient(url)]
  await waiting.write(posted('a'))
  await slow.write(posted('b'))
  slow.socket.pause()
  held[1]?.writeHead(200, { 'Content-Length': LONG.length }).end(LONG)
  // Long enough for both, were they idle.
  for (let round = 0; round < 3; round++) await rawClient(url).closed
  held[0]?.writeHead(200, { 'Content-Length': 2 }).end('ok')
  expect((await waiting.answer()).body).toBe('ok')
  await waiting.closed
  slow.socket.resume()
  expect((await slow.answer()).body.length).toBe(LONG.length)
})

test('a request that waits while the process stands still is answered, even if its connection was idle for too long', async () => {
  const { url } = await listening(sayWho, { keepAliveTimeout: 1000 })
  const [plain, other] = [rawClient(url), rawClient(url)]
  await plain.write(posted('a'))
  await other.write('P', posted('a').slice(1))
  for (const client of [plain, other]) await client.answer()
  await new Promise((resolve) => setImmediate(resolve))
  for (const { socket } of [plain, other]) socket.write(posted('b'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS)
  const lost = Promise.race([plain.closed, other.closed]).then(() => 'a connection was closed')
  const answers = Promise.all([plain, other].map(async (client) => (await client.answer()).body))
  expect(await Promise.race([answers, lost])).toEqual(['ok', 'ok'])
})

/** Longer than an idle connection is kept. */
const STANDSTILL_MS = 2200

test('closing disconnects every client', async () => {
  const { url, plain } = await listening(sayWho)
  const [idle, other] = [rawClient(url), rawClient(url)]
  await idle.write(posted('a'))
  await other.write('G')
  plain.close()
  await idle.closed
  expect(other.socket.destroyed).toBe(false)
})

const LONG = 'x'.repeat(32 * 1024 * 1024)

interface Listening {
  readonly url: string
  readonly plain: FastListener
  /** What was posted so far. */
  readonly bodies: string[]
  readonly sockets: readonly Socket[]
}

async function listening(handler: ServedHandler, { keepAliveTimeout = 65_000 } = {}): Promise<Listening> {
  const bodies: string[] = []
  const sockets: Socket[] = []
  const take = (req: ServedRequest, res: ServedResponse, body: string): void => {
    bodies.push(body)
    handler(req, res)
  }
  const server = createHttpServer()
  server.keepAliveTimeout = keepAliveTimeout
  server.on('request', (req, res) => {
    let body = ''
    req.on('data', (chunk) => (body += String(chunk)))
    req.on('end', () => take(req, res, body))
  })
  const plain = new FastListener(server, (req, res) => take(req, res, 'body' in req ? String(req.body) : ''))
  server.on('connection', (socket: Socket) => sockets.push(socket))
  onTestFinished(async () => {
    const closed = once(server, 'close')
    server.close()
    plain.close()
    server.closeAllConnections()
    await closed
  })
  return { url: await listenOn(server, { host: '127.0.0.1', port: 0 }), plain, bodies, sockets }
}

function sayWho(req: ServedRequest, res: ServedResponse): void {
  const who = 'body' in req ? 'us' : 'Node'
  res.writeHead(200, { 'X-Read-By': who, 'Content-Length': 2 }).end('ok')
}

function posted(body: string, ...lines: readonly string[]): string {
  const head = ['POST / HTTP/1.1', HOST, ...lines, `Content-Length: ${body.length}`]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  requestHead,
  type HttpExchange,
  type RequestHead,
  type ResponseHandlers,
  HttpClient,
} from './http-client.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'
const GET = requestHead('GET', '/', ['Host', 'x'])

/** A server on a bare socket, which is given the text of each chunk that it receives. */
async function socketServer(
  onRequest: (socket: Socket, text: string, nth: number) => void,
): Promise<{ url: URL; sockets: Socket[] }> {
  const sockets: Socket[] = []
  let requests = 0
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => onRequest(socket, chunk.toString('latin1'), ++requests))
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), sockets }
}

function open(maxIdleMs?: number): HttpClient {
  const client = new HttpClient(maxIdleMs === undefined ? {} : { maxIdleMs })
  onTestFinished(() => client.close())
  return client
}

/** Starts an exchange; the result is its status, its text, and whether it was complete. */
function start(
  client: HttpClient,
  url: URL,
  head: RequestHead = GET,
  more: Partial<ResponseHandlers> = {},
): { exchange: HttpExchange; result: Promise<string> } {
  let exchange!: HttpExchange
  const result = new Promise<string>((resolve, reject) => {
    let [status, text] = [0, '']
    exchange = client.send(url, head, {
      onHead: (response) => void (status = response.status),
      onBody: (bytes) => void (text += bytes.toString()),
      onEnd: () => resolve(`${status} ${text} whole`),
      onFail: (error) => (status === 0 ? reject(error) : resolve(`${status} ${text} cut`)),
      ...more,
    })
  })
  return { exchange, result }
}

function get(client: HttpClient, url: URL): Promise<string> {
  const { exchange, result } = start(client, url)
  exchange.end()
  return result
}

test('requests that follow each other share a connection', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  const client = open()
  for (let n = 0; n < 3; n++) expect(await get(client, url)).toBe('200 hi whole')
  expect(sockets).toHaveLength(1)
})

test('a request that is sent when the response before it ends uses the same connection', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  const client = open()
  const second = new Promise<string>((resolve, reject) => {
    const next = (): void => void get(client, url).then(resolve, reject)
    const { exchange } = start(client, url, GET, { onEnd: next })
    exchange.end()
  })
  expect(await second).toBe('200 hi whole')
  expect(sockets).toHaveLength(1)
})

test('an idle connection is closed by the client, before its server might do so under the next request', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  await get(open(10), url)
  await once(sockets[0]!, 'close')
  expect(sockets[0]?.errored).toBeNull()
})

test('a connection is idle for no longer than its server announces', async () => {
  const { url, sockets } = await socketServer((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 2\r\n\r\nhi'),
  )
  const client = open()
  await get(client, url)
  await get(client, url)
  expect(sockets).toHaveLength(2)
})

test('a connection that was idle for too long is not used, even if the timer that closes it is late', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  const client = open(10)
  await get(client, url)
  for (const since = performance.now(); performance.now() - since < 20;); // no timer can run meanwhile
  expect(await get(client, url)).toBe('200 hi whole')
  expect(sockets).toHaveLength(2)
})

test('a connection is not used again after a response that may have waited for long, because the server counts from when it sent it', async () => {
  const { url, sockets } = await socketServer((socket) => setTimeout(() => socket.write(OK), 30))
  const client = open(10)
  await get(client, url)
  await get(client, url)
  expect(sockets).toHaveLength(2)
})

test('a connection that was idle before may be quiet for longer than that while it is used', async () => {
  const { url, sockets } = await socketServer((socket, _, nth) => {
    if (nth === 1) socket.write(OK)
    else setTimeout(() => socket.write(OK), 100)
  })
  const client = open(10)
  await get(client, url)
  expect(await get(client, url)).toBe('200 hi whole')
  expect(sockets).toHaveLength(1)
})

test('a connection that its server closes is not used again', async () => {
  const { url, sockets } = await socketServer((socket, _, nth) =>
    nth === 1 ? socket.end(OK) : socket.write(OK),
  )
  const client = open()
  expect(await get(client, url)).toBe('200 hi whole')
  await once(sockets[0]!, 'close')
  expect(await get(client, url)).toBe('200 hi whole')
  expect(sockets).toHaveLength(2)
})

test('a body without a length ends with its connection, and one that ends too early is cut', async () => {
  const { url } = await socketServer((socket, _, nth) =>
    socket.end(
      nth === 1 ? 'HTTP/1.1 200 OK\r\n\r\nall of it' : 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
    ),
  )
  const client = open()
  expect(await get(client, url)).toBe('200 all of it whole')
  expect(await get(client, url)).toBe('200 half cut')
})

test('a server that closes the connection without a response has failed the request', async () => {
  const { url } = await socketServer((socket) => socket.end())
  await expect(get(open(), url)).rejects.toThrow('the server closed the connection')
})

test('a response that is not HTTP is an error, and the next request uses another connection', async () => {
  const { url, sockets } = await socketServer((socket, _, nth) =>
    socket.write(nth === 1 ? 'what?\r\n\r\n' : OK),
  )
  const client = open()
  await expect(get(client, url)).rejects.toThrow('not an HTTP response: "what?"')
  expect(await get(client, url)).toBe('200 hi whole')
  expect(sockets).toHaveLength(2)
})

test('bytes after a response are never read as the response to the next request', async () => {
  const { url, sockets } = await socketServer((socket, _, nth) =>
    socket.write(nth === 1 ? `${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil` : OK),
  )
  const client = open()
  const second = new Promise<string>((resolve, reject) => {
    const next = (): void => void get(client, url).then(resolve, reject)
    const { exchange } = start(client, url, GET, { onEnd: next })
    exchange.end()
  })
  expect(await second).toBe('200 hi whole')
  expect(sockets).toHaveLength(2)
})

test('a response that its caller knows is not read, unless it is the first of its connection', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  const client = open()
  const seen: string[] = []
  const isKnown = (received: Buffer, bytes: number): boolean =>
    seen.push(received.toString('latin1', 0, bytes)) > 0
  const send = async (): Promise<string> => {
    const { exchange, result } = start(client, url, GET, { isKnown })
    exchange.end()
    return result
  }
  expect([await send(), await send(), await get(client, url)]).toEqual([
    '200 hi whole',
    '0  whole',
    '200 hi whole',
  ])
  expect(seen).toEqual([OK])
  expect(sockets).toHaveLength(1)
})

test('a server that responds before the request is complete gets the rest of it, and then the next request', async () => {
  const received: string[] = []
  const { url, sockets } = await socketServer((socket, text) => {
    received.push(text)
    if (text.includes('HTTP/1.1')) socket.write(OK)
  })
  const client = open()
  const { exchange, result } = start(client, url, requestHead('POST', '/', ['Transfer-Encoding', 'chunked']))
  exchange.write('one')
  expect(await result).toBe('200 hi whole')
  exchange.write(Buffer.from('two'))
  exchange.end()
  expect(await get(client, url)).toBe('200 hi whole')
  expect(received.join('')).toBe(
    'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
  )
  expect(sockets).toHaveLength(1)
})

test('a text body is sent as UTF-8 with its length, and headers as Latin-1', async () => {
  const received: string[] = []
  const { url } = await socketServer((socket, text) => {
    received.push(text)
    if (text.endsWith('\u00c3\u00a9')) socket.write(OK)
  })
  const client = open()
  for (const name of ['plain', '\u00e9']) {
    const { exchange, result } = start(client, url, requestHead('POST', '/', ['X', name]))
    exchange.end('\u00e9')
    expect(await result).toBe('200 hi whole')
  }
  expect(received.join('')).toBe(
    'POST / HTTP/1.1\r\nX: plain\r\nContent-Length: 2\r\n\r\n\u00c3\u00a9' +
      'POST / HTTP/1.1\r\nX: \u00e9\r\nContent-Length: 2\r\n\r\n\u00c3\u00a9',
  )
})

test('an aborted exchange closes its connection, and its handlers are not called any more', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nfirst'))
  const client = open()
  const calls: string[] = []
  await new Promise<void>((resolve) => {
    const { exchange } = start(client, url, GET, {
      onBody: () => {
        exchange.abort()
        resolve()
      },
      onEnd: () => void calls.push('end'),
      onFail: () => void calls.push('fail'),
    })
    exchange.end()
  })
  await once(sockets[0]!, 'close')
  expect(calls).toEqual([])
})

test.each([
  ['method', { method: 'GE T', path: '/', headers: [] }],
  ['path', { method: 'GET', path: '/ HTTP/1.1\r\nX: y', headers: [] }],
  ['name', { method: 'GET', path: '/', headers: ['X:', 'y'] }],
  ['value', { method: 'GET', path: '/', headers: ['X', 'y\r\nZ: z'] }],
  ['second length', { method: 'POST', path: '/', headers: ['Content-Length', '1', 'content-length', '1'] }],
  [
    'coding beside a length',
    { method: 'POST', path: '/', headers: ['Content-Length', '1', 'Transfer-Encoding', 'chunked'] },
  ],
])('a %s that could be read as something else is never sent', (_, { method, path, headers }) => {
  expect(() => requestHead(method, path, headers)).toThrow('cannot be sent')
})

import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openUpstream, type Upstream } from './upstream.ts'
import type { UpstreamRequest } from './upstream-pool.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'

/** A server that is a socket: what it is asked, and what it says. */
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

function open(url: URL, idleMs?: number): Upstream {
  const target = openUpstream(url, idleMs === undefined ? {} : { idleMs })
  onTestFinished(() => target.close())
  return target
}

/** The status and the text of an answer, and whether it came to its end. */
function answerTo(request: UpstreamRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    request.on('error', reject)
    request.on('response', (answer) => {
      answer.on('data', (bytes) => void (text += bytes.toString()))
      answer.on('close', () => resolve(`${answer.statusCode} ${text} ${answer.complete ? 'whole' : 'cut'}`))
    })
  })
}

function get(target: Upstream): Promise<string> {
  const request = target.request({ method: 'GET', path: '/', headers: ['Host', 'x'] })
  request.end()
  return answerTo(request)
}

test('requests that follow each other share a socket', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  const target = open(url)
  for (let n = 0; n < 3; n++) expect(await get(target)).toBe('200 hi whole')
  expect(sockets).toHaveLength(1)
})

test('an idle socket is closed by us, before its server might do so under the next request', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  await get(open(url, 10))
  await once(sockets[0]!, 'close')
  expect(sockets[0]?.errored).toBeNull()
})

test('a socket that was idle for too long is not used, though we were too busy to close it', async () => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  const target = open(url, 10)
  await get(target)
  for (const since = performance.now(); performance.now() - since < 20;); // no clock can run meanwhile
  expect(await get(target)).toBe('200 hi whole')
  expect(sockets).toHaveLength(2)
})

test('a socket that was idle before may be quiet for longer than that while it is used', async () => {
  const { url, sockets } = await socketServer((socket, _, nth) => {
    if (nth === 1) socket.write(OK)
    else setTimeout(() => socket.write(OK), 100)
  })
  const target = open(url, 10)
  await get(target)
  expect(await get(target)).toBe('200 hi whole')
  expect(sockets).toHaveLength(1)
})

test('a socket that its server closes is not used again', async () => {
  const { url, sockets } = await socketServer((socket, _, nth) =>
    nth === 1 ? socket.end(OK) : socket.write(OK),
  )
  const target = open(url)
  expect(await get(target)).toBe('200 hi whole')
  await once(sockets[0]!, 'close')
  expect(await get(target)).toBe('200 hi whole')
  expect(sockets).toHaveLength(2)
})

test('a body without a length ends with its socket, and one that ends too early is cut', async () => {
  const { url } = await socketServer((socket, _, nth) =>
    socket.end(
      nth === 1 ? 'HTTP/1.1 200 OK\r\n\r\nall of it' : 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
    ),
  )
  const target = open(url)
  expect(await get(target)).toBe('200 all of it whole')
  expect(await get(target)).toBe('200 half cut')
})

test('an answer that is no HTTP is an error, and the next request has another socket', async () => {
  const { url, sockets } = await socketServer((socket, _, nth) =>
    socket.write(nth === 1 ? 'what?\r\n\r\n' : OK),
  )
  const target = open(url)
  await expect(get(target)).rejects.toThrow('no HTTP answer: "what?"')
  expect(await get(target)).toBe('200 hi whole')
  expect(sockets).toHaveLength(2)
})

test('a server that answers before the request is over gets the rest of it, and then the next request', async () => {
  const asked: string[] = []
  const { url, sockets } = await socketServer((socket, text) => {
    asked.push(text)
    if (text.includes('HTTP/1.1')) socket.write(OK)
  })
  const target = open(url)
  const request = target.request({ method: 'POST', path: '/', headers: ['Transfer-Encoding', 'chunked'] })
  request.write('one', 'latin1')
  expect(await answerTo(request)).toBe('200 hi whole')
  request.write(Buffer.from('two'))
  request.end()
  expect(await get(target)).toBe('200 hi whole')
  expect(asked.join('')).toBe(
    'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
  )
  expect(sockets).toHaveLength(1)
})

test.each([
  ['method', { method: 'GE T', path: '/', headers: [] }],
  ['path', { method: 'GET', path: '/ HTTP/1.1\r\nX: y', headers: [] }],
  ['name', { method: 'GET', path: '/', headers: ['X:', 'y'] }],
  ['value', { method: 'GET', path: '/', headers: ['X', 'y\r\nZ: z'] }],
])('a %s that would be read as more than it is cannot be written', async (_, head) => {
  const { url, sockets } = await socketServer((socket) => socket.write(OK))
  const target = open(url)
  expect(() => target.request(head)).toThrow('cannot be written')
  await get(target)
  expect(sockets).toHaveLength(1)
})

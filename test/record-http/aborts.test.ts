import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as rest } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { linesOf, until } from '../support/recorder.ts'
import { ask, httpServer, open, post, recordUrl, startRecorder } from '../support/http.ts'

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
const EVENT = 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'

test('the server notices a client that disconnects half-way, and the tape says so', async () => {
  let left: Promise<unknown> | undefined
  const { origin } = await httpServer((_req, res) => {
    left = once(res, 'close')
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(EVENT)
  })
  const { url, lines } = await recordUrl(`${origin}/mcp`)
  const answer = await open(url, post(CALL))
  answer.on('error', () => {})
  await once(answer, 'data')
  answer.destroy()
  await left
  expect(ofExchange(await lines(), 1)).toMatchObject([
    { http: { method: 'POST' } },
    { msg: CALL },
    { http: { status: 200 } },
    { msg: { method: 'notifications/progress' } },
    { event: 'abort', by: 'client' },
  ])
})

test('the client notices a server that dies half-way, and the partial response is on the tape', async () => {
  const { origin } = await httpServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write(`${EVENT}data: {"jsonrpc":"2.0","id":1,"res`, () => res.destroy())
  })
  const { url, lines } = await recordUrl(`${origin}/mcp`)
  await expect(ask(url, post(CALL))).rejects.toThrow('aborted')
  expect(ofExchange(await lines(), 1).slice(3)).toMatchObject([
    { msg: { method: 'notifications/progress' } },
    { dir: 's2c', raw: 'data: {"jsonrpc":"2.0","id":1,"res', why: 'cut off' },
    { event: 'abort', by: 'server' },
  ])
})

test('a JSON body that the server did not complete is on the tape', async () => {
  const { origin } = await httpServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 })
    res.write('{"jsonrpc":', () => res.destroy())
  })
  const { url, lines } = await recordUrl(`${origin}/mcp`)
  await expect(ask(url, post(CALL))).rejects.toThrow('aborted')
  expect(ofExchange(await lines(), 1).slice(3)).toMatchObject([
    { raw: '{"jsonrpc":', why: 'cut off' },
    { event: 'abort', by: 'server' },
  ])
})

test('a client that disconnects after an early response is disconnected from the server too', async () => {
  let left: Promise<unknown> | undefined
  const server = createServer((socket) => {
    left = once(socket, 'close')
    socket.once('data', () => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n'))
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { url } = await recordUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  const client = request(url, { method: 'POST', headers: { 'Content-Length': 1_000_000 } })
  client.on('error', () => {})
  client.write('{"jsonrpc":')
  const [answer] = (await once(client, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(413)
  answer.on('error', () => {})
  client.destroy()
  await left
})

test('many small chunks to a slow client cause no warnings', async () => {
  const pieces = 100_000
  const { origin } = await httpServer(async (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (let piece = 0; piece < pieces; piece++) if (!res.write(EVENT)) await once(res, 'drain')
    res.end()
  })
  const run = await startRecorder(`${origin}/mcp`)
  let bytes = 0
  for await (const chunk of await open(run.url, post(CALL))) {
    bytes += (chunk as Buffer).length
    if (bytes < 2_000_000) await rest(5) // the server could send all of it meanwhile
  }
  expect(bytes).toBe(EVENT.length * pieces)
  run.child.kill('SIGTERM')
  await run.exited
  expect(run.stderr().split('\n')).toHaveLength(6)
})

test('a request that the server drops gets our error, is on the tape, and is not sent again', async () => {
  let requests = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      requests++
      socket.destroy()
    })
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { url, lines } = await recordUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  expect(await ask(url, post(CALL))).toMatchObject({ status: 502 })
  expect(requests).toBe(1)
  expect(ofExchange(await lines(), 1)).toMatchObject([
    { http: {} },
    { msg: CALL },
    { event: 'unreachable', why: 'the server closed the connection' },
  ])
})

test('a head that cannot be forwarded is a 502, and the recorder continues', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'))
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { url, lines } = await recordUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  for (const x of [1, 2]) expect([x, (await ask(url, post(CALL))).status]).toEqual([x, 502])
  expect(ofExchange(await lines(), 2).at(-1)).toMatchObject({ event: 'unreachable', why: expect.any(String) })
})

test('an unreachable server is a 502 that cannot be mistaken for its response, and the session continues', async () => {
  const { origin, close } = await httpServer((_req, res) => res.end('{"jsonrpc":"2.0","id":1,"result":{}}'))
  const { url, lines } = await recordUrl(`${origin}/mcp`)
  expect(await ask(url, post(CALL))).toMatchObject({ status: 200 })
  close()
  const { status, body } = await ask(url, post(CALL))
  expect({ status, body: JSON.parse(body.toString()) as unknown }).toEqual({
    status: 502,
    body: {
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -39502,
        message: `reelay: cannot reach ${origin}: connect ECONNREFUSED ${new URL(origin).host}`,
        data: { by: 'reelay' },
      },
    },
  })
  expect(ofExchange(await lines(), 2).at(-1)).toMatchObject({
    event: 'unreachable',
    why: expect.stringContaining('ECONNREFUSED'),
  })
})

test.each([
  ['SIGTERM', 0],
  ['SIGINT', 130],
] as const)('%s ends open streams and finishes the tape', async (signal, code) => {
  const streams: ServerResponse[] = []
  const { origin } = await httpServer((_req, res) => {
    streams.push(res)
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(EVENT)
  })
  const run = await startRecorder(`${origin}/mcp`)
  const answer = await open(run.url)
  await once(answer, 'data')
  const ended = once(answer, 'end')
  run.child.kill(signal)
  await ended
  expect(await run.exited).toMatchObject({ code })
  await until(() => streams.every((stream) => stream.destroyed))
  const lines = linesOf(run.tape)
  expect(lines.slice(-2)).toMatchObject([
    { event: 'abort', by: 'recorder' },
    { event: 'end', frames: lines.length - 1 },
  ])
  expect(run.stderr()).toBe(
    [
      `reelay: recording to ${run.tape}`,
      `reelay: give this URL to the client: ${run.url}`,
      `reelay: config for a client: {"mcpServers":{"${new URL(origin).host.replace(':', '-')}":{"type":"http","url":"${run.url}"}}}`,
      `reelay: recorded ${lines.length - 1} frames to ${run.tape}`,
      `reelay: next, serve it without the server: reelay serve ${run.tape}`,
      '',
    ].join('\n'),
  )
})

function ofExchange(lines: readonly Record<string, unknown>[], x: number): Record<string, unknown>[] {
  return lines.filter((line) => line['x'] === x)
}

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { ask, httpServer, open, post, recordUrl, startRecorder } from '../support/http.ts'
import { peakMemory } from '../support/recorder.ts'

const PING = '{ "jsonrpc":"2.0",\n "id":1.0, "method":"p\\u0069ng" }'
const PONG = '{"result":{},\r\n  "jsonrpc":"2.0","id":1.0}\n'

test('heads and bodies reach both sides unchanged, whatever the method', async () => {
  const seen: unknown[] = []
  const { origin } = await httpServer(async (req, res) => {
    const { method, url, rawHeaders } = req
    seen.push({ method, url, headers: rawHeaders.join('|'), body: (await buffer(req)).toString() })
    res.sendDate = false
    const headers = [
      'X-Odd',
      'a',
      'set-COOKIE',
      'b=1',
      'x-odd',
      'c',
      'Set-Cookie',
      'd=2',
      'Content-Type',
      'text/x',
    ]
    res.writeHead(method === 'DELETE' ? 405 : 299, 'As You Like', headers).end(`${method} \0\xff`)
  })
  const { url } = await recordUrl(`${origin}/mcp?a=1`)
  for (const method of ['POST', 'GET', 'DELETE', 'PATCH', 'OPTIONS', 'PUT']) {
    const request = {
      method,
      headers: ['Host', new URL(url).host, 'X-Twice', '1', 'x-tWICE', '2', 'Content-Length', '4'],
      body: 'abcd',
    } as const
    const direct = await ask(`${origin}/mcp?a=1`, { ...request, headers: [...request.headers] })
    const recorded = await ask(url, { ...request, headers: [...request.headers] })
    expect(recorded).toEqual(direct)
    const [first, second] = seen.splice(0)
    expect(withoutHop(second)).toEqual(withoutHop(first))
  }
})

test('the bytes of a message are on the tape unchanged, except that line feeds are spaces', async () => {
  const { origin } = await httpServer((_req, res) =>
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(PONG),
  )
  const { url, tape, lines } = await recordUrl(`${origin}/mcp`)
  expect((await ask(url, post(PING))).body.toString()).toBe(PONG)
  await lines()
  const text = readFileSync(tape, 'utf8')
  expect(text).toContain(`"dir":"c2s","msg":${PING.replaceAll('\n', ' ')}}\n`)
  expect(text).toContain(`"dir":"s2c","msg":${PONG.replaceAll('\n', ' ')}}\n`)
  expect(await loadTape(tape)).toMatchObject({ problems: [], ended: true, turns: [{ response: {} }] })
})

test('server-sent events are forwarded one by one, and the tape has all of them', async () => {
  const pieces = [
    ': hello\n\n',
    'id: a::0\nretry: 5000\ndata: \n\n',
    'event: message\nid: a::1\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n',
    'data: {"jsonrpc":"2.0",\ndata: "id":1,"result":{}}\n\n',
    'data: no JSON\n\n',
  ]
  let stream: ServerResponse | undefined
  const { origin } = await httpServer((_req, res) => {
    stream = res.writeHead(200, { 'content-type': 'text/event-stream' })
    stream.flushHeaders()
  })
  const { url, lines } = await recordUrl(`${origin}/mcp`)
  const answer = await open(url, post({ jsonrpc: '2.0', id: 1, method: 'm' })) // the head comes before any event
  for (const piece of pieces) {
    stream?.write(piece)
    const [chunk] = (await once(answer, 'data')) as [Buffer]
    expect(chunk.toString()).toBe(piece)
  }
  stream?.end()
  await once(answer, 'end')
  expect(payloads(await lines())).toEqual([
    { event: 'sse', comment: 'hello' },
    { event: 'sse', sse: { id: 'a::0', retry: 5000 }, data: '' },
    { sse: { id: 'a::1', event: 'message' }, msg: { jsonrpc: '2.0', method: 'notifications/x' } },
    { sse: {}, msg: { jsonrpc: '2.0', id: 1, result: {} } },
    { sse: {}, raw: 'no JSON', why: 'not JSON' },
    { event: 'end-of-stream', by: 'server' },
  ])
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
] as const)(
  'a body with content-encoding %s is forwarded unchanged and recorded decoded',
  async (encoding, compress) => {
    const accepted: unknown[] = []
    const { origin } = await httpServer((req, res) => {
      accepted.push(req.headers['accept-encoding'])
      res
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': encoding })
        .end(compress(PONG))
    })
    const { url, lines } = await recordUrl(`${origin}/mcp`)
    const answer = await ask(url, post(PING, { 'Accept-Encoding': 'x, gzip;q=0.1' }))
    expect(answer.body).toEqual(compress(PONG))
    expect(accepted).toEqual(['x, gzip;q=0.1'])
    expect(payloads(await lines())).toEqual([{ msg: JSON.parse(PONG) }])
  },
)

test('compressed events are recorded while their stream is open', async () => {
  const gzip = createGzip()
  const { origin } = await httpServer((_req, res) => {
    gzip.pipe(res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'gzip' }))
    gzip.write('data: {"a":1}\n\n')
    gzip.flush()
  })
  const { url, tape, lines } = await recordUrl(`${origin}/mcp`)
  const answer = await open(url)
  answer.on('error', () => {})
  while (!readFileSync(tape, 'utf8').includes('"msg":{"a":1}')) await new Promise(setImmediate)
  expect(payloads(await lines())).toEqual([
    { sse: {}, msg: { a: 1 } },
    { event: 'abort', by: 'recorder' },
  ])
})

test('a body with an unknown encoding is recorded unchanged', async () => {
  const { origin } = await httpServer((_req, res) =>
    res.writeHead(200, { 'Content-Encoding': 'zstd' }).end(Buffer.from([0x28, 0xb5, 0xff])),
  )
  const { url, lines } = await recordUrl(`${origin}/mcp`)
  await ask(url)
  expect(payloads(await lines())).toMatchObject([{ why: 'content-encoding zstd', base64: 'KLX/' }])
})

test('a result of 50 MB is forwarded and recorded completely, and costs little more memory than its size', async () => {
  const text = 'x'.repeat(1024 * 1024)
  const { origin } = await httpServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write('data: {"jsonrpc":"2.0","id":1,"result":["')
    const pour = (left: number): void =>
      void (left === 0 ? res.end('"]}\n\n') : res.write(text, () => pour(left - 1)))
    pour(50)
  })
  const run = await startRecorder(`${origin}/mcp`)
  const answer = await open(run.url, post({ jsonrpc: '2.0', id: 1, method: 'big' }))
  expect(await lengthOf(answer)).toBe(
    50 * text.length + 'data: {"jsonrpc":"2.0","id":1,"result":[""]}\n\n'.length,
  )
  const peak = peakMemory(run)
  run.child.kill('SIGTERM')
  expect((await run.exited).code).toBe(0)
  const { turns, problems } = await loadTape(run.tape)
  expect(problems).toEqual([])
  expect(turns[0]?.response?.text.length).toBe(
    50 * text.length + '{"jsonrpc":"2.0","id":1,"result":[""]}'.length,
  )
  expect(peak).toBeLessThan(300)
}, 60_000)

test('the tape has the beginning of a body that exceeds --max-line, and the client gets all of it', async () => {
  const long = JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'y'.repeat(3 * 1024 * 1024) })
  const { origin } = await httpServer((_req, res) => res.end(long))
  const { url, lines } = await recordUrl(`${origin}/mcp`, { maxMessageBytes: 1024 * 1024 })
  expect((await ask(url, post(PING))).body.toString()).toBe(long)
  expect(payloads(await lines())).toMatchObject([
    { raw: long.slice(0, 4096), why: `a body of ${long.length} bytes; at most 1048576 are kept` },
  ])
})

/** What the server sent, without the heads and the places. */
function payloads(lines: readonly Record<string, unknown>[]): unknown[] {
  return lines
    .filter((line) => line['dir'] === 's2c' || (line['event'] !== undefined && line['event'] !== 'end'))
    .filter((line) => line['http'] === undefined)
    .map(({ n: _n, t: _t, server: _server, conn: _conn, x: _x, dir: _dir, ...payload }) => payload)
}

function withoutHop(seen: unknown): unknown {
  const { headers, ...rest } = seen as { headers: string }
  return { ...rest, headers: headers.replaceAll(/\|?Connection\|[^|]*/gi, '') }
}

async function lengthOf(answer: IncomingMessage): Promise<number> {
  let length = 0
  for await (const chunk of answer) length += (chunk as Buffer).length
  return length
}

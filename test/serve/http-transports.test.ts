import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { ask, open, post } from '../support/http.ts'
import { until } from '../support/recorder.ts'
import { begin, errorOf, jsonOf, read, serving } from './serving.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, tapeOf, type Said } from '../support/tape-of.ts'

const said = (message: object): object => ({ jsonrpc: '2.0', ...message })
const SESSION = [...HANDSHAKE, ...call(1, 'count', {}, 'one')]
const named = (name: string, all: readonly Said[]): readonly Said[] =>
  all.map((one) => ({ ...one, server: name }))

test('HTTP+SSE: the first event says where to post, answers come by the stream, and a client that left is not known', async () => {
  const { url, drift } = await serving({ tape: tapeOf(...SESSION), sse: {} })
  expect(new URL(url).pathname).toBe('/sse')
  const stream = await open(url, { headers: { Accept: 'text/event-stream' } })
  const [, path = ''] = /^event: endpoint\ndata: (\S+)\n\n/.exec(await read(stream, '\n\n')) ?? []
  expect(path).toMatch(/^\/messages\?sessionId=\S{16,}$/)
  const messages = new URL(path, url).href
  const accepted = await ask(messages, post(said(callOf(5, 'count', {}))))
  expect(accepted.status).toBe(202)
  expect(await read(stream, '\n\n')).toBe(
    `event: message\ndata: ${JSON.stringify(said(answerOf(5, 'one')))}\n\n`,
  )
  expect(errorOf(await ask(messages, post('{}')))).toEqual({ status: 400, code: -32600 })
  expect((await ask(messages)).status).toBe(405)
  expect((await ask(url, post(said(callOf(1, 'count', {}))))).status).toBe(405)
  stream.destroy()
  await until(() => drift().leftOver.length === 0)
  const isGone = async (): Promise<boolean> =>
    (await ask(messages, post(said(callOf(1, 'count', {}))))).status === 404
  while (!(await isGone()));
})

test('both transports share a port unless they are given two', async () => {
  const shared = await serving({ tape: tapeOf(...SESSION), http: {}, sse: {} })
  const [http, sse] = shared.endpoints.map(({ url }) => new URL(url))
  expect([http?.pathname, sse?.pathname, http?.port === sse?.port]).toEqual(['/mcp', '/sse', true])
  const port = await freePort()
  const apart = await serving({ tape: tapeOf(...SESSION), http: {}, sse: { port } })
  expect(apart.endpoints.map(({ url }) => new URL(url).port === String(port))).toEqual([false, true])
})

test('a tape of several servers serves each at its own path, and never one with the answers of another', async () => {
  const tape = tapeOf(...SESSION, ...named('git hub', [...HANDSHAKE, ...call(1, 'count', {}, 'other')]))
  const { endpoints, drift } = await serving({ tape })
  expect(endpoints.map(({ server: name, url }) => [name, new URL(url).pathname])).toEqual([
    ['demo', '/demo/mcp'],
    ['git hub', '/git%20hub/mcp'],
  ])
  const answers = []
  for (const { url } of endpoints) answers.push(jsonOf(await (await begin(url)).say(callOf(1, 'count', {}))))
  expect(answers).toEqual([said(answerOf(1, 'one')), said(answerOf(1, 'other'))])
  expect(drift()).toMatchObject({ answered: 4, leftOver: [], misses: [] })
  const one = await serving({ tape, server: 'git hub' })
  expect(one.endpoints.map(({ url }) => new URL(url).pathname)).toEqual(['/mcp'])
})

test('a port that is taken is said, and nothing is left open', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const free = await freePort()
  const both = serving({ tape: tapeOf(...SESSION), http: { port: free }, sse: { port } })
  await expect(both).rejects.toMatchObject({ code: 'LISTEN_FAILED' })
  await expect(once(connect(free, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  taken.close()
})

test('closing ends every stream and every socket, and may be done twice', async () => {
  const served = await serving({ tape: tapeOf(...SESSION), http: {}, sse: {} })
  const [http = '', sse = ''] = served.endpoints.map(({ url }) => url)
  const session = await begin(http)
  const standing = await open(http, { headers: { ...session.headers, Accept: 'text/event-stream' } })
  const stream = await open(sse, { headers: { Accept: 'text/event-stream' } })
  standing.resume()
  stream.resume()
  const ends = Promise.all([standing, stream].map((each) => once(each, 'close')))
  await Promise.all([served.close(), served.close()])
  await ends
  await expect(ask(http)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test('a client that does not read its stream is not listened to until it does, and then gets everything in order', async () => {
  const size = 256 * 1024
  const calls = Array.from({ length: 40 }, (_, at) =>
    call(at + 1, 'large', { at }, `${at} `.padEnd(size, 'x')),
  )
  const { url } = await serving({ tape: tapeOf(...HANDSHAKE, ...calls.flat()), sse: {} })
  const stream = await open(url, { headers: { Accept: 'text/event-stream' } })
  const [, path = ''] = /data: (\S+)\n/.exec(await read(stream, '\n\n')) ?? []
  stream.pause()
  let accepted = 0
  const posts = calls.map(async (_, at) => {
    await ask(new URL(path, url).href, post(said(callOf(at, 'large', { at }))))
    accepted++
  })
  // Time enough for all of them, were they taken.
  for (let round = 0; round < 3 * calls.length; round++) await ask(url, post('{}'))
  const before = accepted
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
  await Promise.all(posts)
  await until(() => text.split('"text":"').length === calls.length + 1)
  expect(before).toBeLessThan(calls.length)
  const seen = [...text.matchAll(/"text":"(\d+) x/g)].map(([, at]) => Number(at))
  expect(seen.toSorted((a, b) => a - b)).toEqual(calls.map((_, at) => at))
})

test('a client that vanishes in the middle of a call leaves the others alone, and its session waits for it', async () => {
  const { url } = await serving({
    tape: tapeOf(
      ...HANDSHAKE,
      client(callOf(1, 'ask', {})),
      server({ id: 0, method: 'roots/list' }),
      client({ id: 0, result: { roots: [] } }),
      server(answerOf(1, 'done')),
      ...call(2, 'count', {}, 'one'),
    ),
  })
  const [gone, other] = [await begin(url), await begin(url)]
  const stream = await open(url, post(said(callOf(1, 'ask', {})), gone.headers))
  await read(stream, 'roots/list')
  stream.destroy()
  expect(jsonOf(await other.say(callOf(1, 'count', {})))).toEqual(said(answerOf(1, 'one')))
  expect(jsonOf(await gone.say(callOf(2, 'count', {})))).toEqual(said(answerOf(2, 'one')))
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((closed) => probe.close(closed))
  return port
}

import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { httpSseLink } from '../../src/link/http-sse.ts'
import { urlLink } from '../../src/link/url-link.ts'
import { httpServer } from '../support/http.ts'
import { until } from '../support/recorder.ts'
import { answer, opened, request } from './link.ts'

interface Legacy {
  readonly url: URL
  /** What was posted, and where to. */
  readonly posts: string[]
  /** The stream of the client. */
  readonly stream: () => ServerResponse | undefined
}

/** A server that knows only the legacy transport: it refuses a POST to its stream with this status. */
async function legacyServer(status: number, endpoint = '/messages?session=1'): Promise<Legacy> {
  const posts: string[] = []
  let stream: ServerResponse | undefined
  const { origin } = await httpServer(async (req, res) => {
    if (req.method === 'GET') {
      stream = res.writeHead(200, { 'content-type': 'text/event-stream' })
      return void res.write(`event: endpoint\ndata: ${endpoint}\n\n`)
    }
    const body = await text(req)
    posts.push(`${req.url} ${(JSON.parse(body) as { method: string }).method}`)
    if (req.url === '/sse') return void res.writeHead(status).end()
    res.writeHead(202).end()
    stream?.write(`event: message\ndata: ${answer((JSON.parse(body) as { id: number }).id)}\n\n`)
  })
  return { url: new URL(`${origin}/sse`), posts, stream: () => stream }
}

test.each([404, 405, 400])(
  'a server that refuses the first POST with %i is spoken to over its stream',
  async (status) => {
    const { url, posts } = await legacyServer(status)
    const { link, texts, lost, count } = await opened(urlLink({ url }))
    link.send(request(1, 'initialize'))
    link.send(request(2, 'tools/call'))
    await count(2)
    expect([texts, lost]).toEqual([[answer(1), answer(2)], []])
    expect(posts).toEqual([
      '/sse initialize',
      '/messages?session=1 initialize',
      '/messages?session=1 tools/call',
    ])
  },
)

test('only `initialize` is sent over both transports: another first message is lost', async () => {
  const { url, posts } = await legacyServer(405)
  const { link, lost, count } = await opened(urlLink({ url }))
  link.send(request(1, 'tools/call'))
  await count(1)
  expect(lost).toEqual(['#1 the server answered HTTP 405'])
  expect(posts).toEqual(['/sse tools/call'])
})

test('a server of neither transport is reported with its refusal of `initialize`', async () => {
  const { origin } = await httpServer((_, res) => void res.writeHead(404).end('nothing here'))
  const { link, lost, count } = await opened(urlLink({ url: new URL(origin) }))
  link.send(request(1, 'initialize'))
  await count(1)
  expect(lost).toEqual([expect.stringMatching(/^#1 the server answered HTTP 404 .*: nothing here$/)])
})

test('a server that rejects a token is not tried over the other transport', async () => {
  const methods: unknown[] = []
  const { origin } = await httpServer((req, res) => {
    methods.push(req.method)
    res.writeHead(401).end()
  })
  const { link, count } = await opened(urlLink({ url: new URL(origin) }))
  link.send(request(1, 'initialize'))
  await count(1)
  expect(methods).toEqual(['POST'])
})

test('an endpoint at another origin is rejected before any message is sent', async () => {
  const { url } = await legacyServer(405, 'http://127.0.0.1:1/messages')
  await expect(opened(httpSseLink({ url, headers: { authorization: 'Bearer x' } }))).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
    message: expect.stringContaining('another origin, http://127.0.0.1:1') as string,
  })
})

test('the end of a stream is reported once', async () => {
  const { url, stream } = await legacyServer(405)
  const { ends } = await opened(httpSseLink({ url }))
  stream()?.end()
  await until(() => ends.length > 0)
  expect(ends).toEqual(['the stream ended'])
})

test('an address without a stream is rejected with an explanation', async () => {
  const { origin } = await httpServer((_, res) => void res.writeHead(404).end())
  await expect(opened(httpSseLink({ url: new URL(origin) }))).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
    message: expect.stringContaining('HTTP 404') as string,
  })
})

import { expect, onTestFinished, test } from 'vitest'
import { serveHttp, type ServedHttp, type ServeHttpOptions } from '../../src/serve/http/serve-http.ts'
import {
  answerOf,
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../support/tape-of.ts'

const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'cats' }, 'cats'),
  client(callOf(2, 'work', {})),
  server({ method: 'notifications/message', params: { level: 'info', data: 'working' } }),
  server(answerOf(2, 'done')),
]

test.each([401, 404, 429, 503])(
  'a request gets HTTP %i in place of its answer, and a retry gets the answer',
  async (status) => {
    const http = { status, headers: { 'retry-after': '1' }, body: 'not now' }
    const served = await serving({ faults: [{ tool: 'search', nth: 1, http }] }, SESSION)
    const session = await open(served)
    const first = await post(served, callOf(5, 'search', { q: 'cats' }), session)
    expect([first.status, first.headers.get('retry-after'), await first.text()]).toEqual([
      status,
      '1',
      'not now',
    ])
    const again = await post(served, callOf(6, 'search', { q: 'cats' }), session)
    expect(await again.json()).toEqual({ jsonrpc: '2.0', ...answerOf(6, 'cats') })
    expect(served.drift()).toMatchObject({
      misses: [],
      faults: [`tools/call search {"q":"cats"} is answered with HTTP ${status}`],
    })
  },
)

test('a modern request gets an HTTP status too', async () => {
  const params = { name: 'search', arguments: {}, _meta: ENVELOPE }
  const served = await serving({ faults: [{ tool: 'search', http: 500 }] }, [
    client({ id: 1, method: 'tools/call', params }),
    server({ id: 1, result: { resultType: 'complete', content: [] } }),
  ])
  const answer = await post(
    served,
    { id: 1, method: 'tools/call', params },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'search' },
  )
  expect([answer.status, await answer.text()]).toEqual([500, ''])
})

test('a dropped stream brings what came before the answer, and breaks off', async () => {
  const served = await serving({ faults: [{ tool: 'work', drop: true }] }, SESSION)
  const answer = await post(served, callOf(5, 'work', {}), await open(served))
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  await expect(answer.text()).rejects.toThrow('terminated')
})

test('a server that breaks off answers nothing at all', async () => {
  const served = await serving({ faults: [{ tool: 'search', disconnect: true }] }, SESSION)
  const session = await open(served)
  await expect(post(served, callOf(5, 'search', { q: 'cats' }), session)).rejects.toThrow('fetch failed')
})

test('over HTTP+SSE, whose one stream carries every answer, that stream ends', async () => {
  const served = await serving({ sse: {}, faults: [{ tool: 'search', http: 503 }] }, SESSION)
  const { url } = served
  const stream = (await fetch(url)).body?.pipeThrough(new TextDecoderStream()).getReader()
  const { value = '' } = (await stream?.read()) ?? {}
  const messages = new URL(/data: (.*)/.exec(value)?.[1] ?? '', url).href
  await post({ ...served, url: messages }, callOf(5, 'search', { q: 'cats' }))
  expect(await stream?.read()).toMatchObject({ done: true })
})

async function serving(options: Omit<ServeHttpOptions, 'tape'>, said: readonly Said[]): Promise<ServedHttp> {
  const served = await serveHttp({ ...options, tape: tapeOf(...said) })
  onTestFinished(() => served.close())
  return served
}

type Headers = Readonly<Record<string, string>>

/** Opens a legacy session, and gives the headers that name it. */
async function open(served: ServedHttp): Promise<Headers> {
  const opened = await post(served, {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'tester', version: '1' } },
  })
  return { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
}

function post({ url }: ServedHttp, message: object, headers: Headers = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

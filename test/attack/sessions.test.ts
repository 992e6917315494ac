import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ask, open, post } from '../support/http.ts'
import { begin, errorOf, read, serving } from '../serve/serving.ts'
import { call, callOf, client, ENVELOPE, HANDSHAKE, server, tapeOf } from '../support/tape-of.ts'

const COUNT = callOf(1, 'count', {})
const TAPE = tapeOf(...HANDSHAKE, ...call(1, 'count', {}, 'one'))
const STREAM = { Accept: 'text/event-stream' }

const modern = (name: string): object => ({
  jsonrpc: '2.0',
  ...COUNT,
  params: {
    name: 'count',
    arguments: {},
    _meta: { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': { name, version: '1' } },
  },
})

test('the session that was unused for the longest time makes room for a new one, and its client can start again', async () => {
  const { url } = await serving({ tape: TAPE, maxSessions: 2 })
  const first = await begin(url)
  const second = await begin(url)
  const stream = await open(url, { headers: { ...STREAM, ...first.headers } })
  await second.say(COUNT)
  await begin(url)
  // The first one is older, but it has an open stream.
  expect(errorOf(await second.say(COUNT))).toEqual({ status: 404, code: -32001 })
  expect((await first.say(COUNT)).status).toBe(200)
  const again = await begin(url)
  expect((await again.say(COUNT)).status).toBe(200)
  await open(url, { headers: { ...STREAM, ...again.headers } })
  await begin(url) // now both are in use
  await once(stream.resume(), 'end')
  expect((await again.say(COUNT)).status).toBe(200)
})

test('a session without an open request or stream ends after the idle time, and one with a stream does not', async () => {
  const { url } = await serving({ tape: TAPE, sessionIdleMs: 1000 })
  const [idle, reading] = [await begin(url), await begin(url)]
  await open(url, { headers: { ...STREAM, ...reading.headers } })
  while ((await idle.say(COUNT)).status !== 404) await sleep(2500)
  expect((await reading.say(COUNT)).status).toBe(200)
})

test('the stream that was unused for the longest time ends when there are too many of HTTP+SSE', async () => {
  const { url } = await serving({ tape: TAPE, sse: {}, maxSessions: 1 })
  const first = await open(url, { headers: STREAM })
  const [, path = ''] = /data: (\S+)\n/.exec(await read(first, '\n\n')) ?? []
  const ended = once(first, 'end')
  await open(url, { headers: STREAM })
  first.resume()
  await ended
  const late = await ask(new URL(path, url).href, post({ jsonrpc: '2.0', ...COUNT }))
  expect(late.status).toBe(404)
})

test('a client without sessions that was forgotten starts again with an unused tape', async () => {
  const answer = { jsonrpc: '2.0', id: 1, result: { content: [], resultType: 'complete' } }
  const { url, drift } = await serving({ tape: tapeOf(client(modern('a')), server(answer)), maxSessions: 1 })
  const headers = {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'count',
  }
  const statuses = []
  for (const name of ['a', 'b', 'a', 'c', 'a'])
    statuses.push((await ask(url, post(modern(name), headers))).body.includes('complete'))
  expect(statuses).toEqual([true, true, true, true, true])
  expect(drift()).toMatchObject({ answered: 5, misses: [] })
})

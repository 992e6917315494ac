import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { recordFetch, type AnyFetch } from '../../src/record/in-process/record-fetch.ts'
import { createRecording, type Recording } from '../../src/record/recording.ts'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { linesOf, temporaryFolder } from '../support/recorder.ts'
import { callTool, clientOf, SDKS } from '../support/sdk.ts'
import { everythingOverHttp } from './everything-http.ts'

const ANSWERS = { answers: { root: 'file:///nowhere', elicited: {} } }
const HTTP = { v1: HttpV1, v2: HttpV2 }
const SSE = { v1: SseV1, v2: SseV2 }

const newRecording = (): Recording =>
  createRecording({ tape: join(temporaryFolder(), 'http.tape.jsonl'), tags: {} })

/** The lines of a tape that is closed now. */
async function linesWhenClosed(recording: Recording): Promise<Record<string, unknown>[]> {
  await recording.close()
  return linesOf(recording.path ?? '')
}

describe.each(SDKS)('the HTTP transport of SDK %s', (sdk) => {
  test('is recorded with its heads, its session as one connection, its messages and no secret; the tape answers the same', async () => {
    const url = await everythingOverHttp('streamableHttp')
    const recording = newRecording()
    const fetched = recordFetch(fetch, { recording, server: 'everything', url })
    const requestInit = { headers: { Authorization: 'Bearer very-secret', 'X-Api-Key': 'very-secret' } }
    const client = clientOf(sdk, ANSWERS)
    await client.connect(new HTTP[sdk](url, { fetch: fetched, requestInit }))
    const progress: object[] = []
    const live = [
      await callTool(client, 'get-sum', { a: 2, b: 3 }),
      await callTool(
        client,
        'trigger-long-running-operation',
        { duration: 0.1, steps: 2 },
        {
          onprogress: (step) => progress.push(step),
        },
      ),
    ]
    expect(progress).not.toEqual([])
    await client.close()
    const lines = await linesWhenClosed(recording)
    const requests = lines.filter(({ dir, http }) => dir === 'c2s' && http !== undefined)
    expect(new Set(requests.map(({ conn }) => conn))).toEqual(new Set([1]))
    expect(lines.find(({ msg }) => JSON.stringify(msg)?.includes('"result"'))).toMatchObject({
      server: 'everything',
      conn: 1,
      x: 1,
      dir: 's2c',
      sse: { id: expect.any(String) as string },
    })
    expect(
      lines.filter(({ http }) => /\["authorization","Bearer [\w-]{11}"\]/.test(JSON.stringify(http) ?? '')),
    ).toEqual(requests)
    expect(readFileSync(recording.path ?? '', 'utf8')).not.toContain('very-secret')
    const tape = await loadTape(recording.path ?? '')
    expect(tape).toMatchObject({ ended: true, problems: [] })
    const player = clientOf(sdk, ANSWERS)
    await player.connect(replayTransport(tape, { drift: 'ignore' }))
    expect(await callTool(player, 'get-sum', { a: 2, b: 3 })).toEqual(live[0])
    await player.close()
  })

  test('of the legacy kind is recorded too: the stream and the messages are one connection', async () => {
    const url = await everythingOverHttp('sse')
    const recording = newRecording()
    const client = clientOf(sdk, ANSWERS)
    await client.connect(new SSE[sdk](url, { fetch: recordFetch(fetch, { recording, server: 's', url }) }))
    await callTool(client, 'get-sum', { a: 2, b: 3 })
    await client.close()
    const lines = await linesWhenClosed(recording)
    const messages = lines.filter(({ msg }) => msg !== undefined)
    expect(new Set(messages.map(({ conn }) => conn))).toEqual(new Set([1]))
    expect(JSON.stringify(messages)).toContain('The sum of 2 and 3 is 5')
  })
})

test('two stateless clients that count from the same id, at once, are paired right', async () => {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'add', version: '1' })
    server.registerTool('add', { inputSchema: z.object({ a: z.number() }) }, ({ a }) => ({
      content: [{ type: 'text', text: `sum ${a}` }],
    }))
    return server
  })
  const recording = newRecording()
  const url = new URL('http://stateless.test/mcp')
  const inProcess: AnyFetch = (target, init) => handler.fetch(new Request(target, init))
  const fetched = recordFetch(inProcess, { recording, server: 'add', url })
  const talk = async (from: number): Promise<void> => {
    const client = new ClientV2(
      { name: 'c', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new HttpV2(url, { fetch: fetched }))
    const numbers = Array.from({ length: 10 }, (_, step) => from + step)
    await Promise.all(numbers.map((a) => client.callTool({ name: 'add', arguments: { a } })))
    await client.close()
  }
  await Promise.all([talk(100), talk(200)])
  await recording.close()
  const { turns, strays, problems } = await loadTape(recording.path ?? '')
  expect({ strays, problems }).toEqual({ strays: [], problems: [] })
  const calls = turns.flatMap(({ trigger, steps }) => {
    const asked = /"a":(\d+)/.exec(trigger?.text ?? '')?.[1]
    const answer = steps.find(({ kind }) => kind === 'respond')
    return asked === undefined || answer?.kind !== 'respond'
      ? []
      : [[asked, /sum (\d+)/.exec(answer.message.text)?.[1]]]
  })
  expect(calls).toHaveLength(20)
  expect(calls.filter(([asked, answered]) => asked !== answered)).toEqual([])
})

const URL_S = 'http://s.test/mcp'
const POST = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"m"}' }
const JSON_HEAD = { headers: { 'content-type': 'application/json' } }

/** A fetch function that gives this answer. */
function answering(answer: () => Response | Promise<Response>): { recording: Recording; fetched: AnyFetch } {
  const recording = newRecording()
  const fetched = recordFetch(async () => answer(), { recording, server: 's', url: URL_S })
  return { recording, fetched }
}

test('nothing is read from the server before its reader wants it', async () => {
  let poured = 0
  const endless = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(Buffer.from(`data: {"n":${++poured}}\n\n`)) },
    { highWaterMark: 0 },
  )
  const { recording, fetched } = answering(
    () => new Response(endless, { headers: { 'content-type': 'text/event-stream' } }),
  )
  const reader = (await fetched(URL_S, POST)).body!.getReader()
  expect(poured).toBe(0)
  for (let read = 1; read <= 3; read++) {
    await reader.read()
    expect(poured).toBe(read)
  }
  await reader.cancel()
  const lines = await linesWhenClosed(recording)
  expect(lines.slice(4, 8)).toMatchObject([
    { conn: 1, x: 1, dir: 's2c', msg: { n: 1 } },
    { msg: { n: 2 } },
    { msg: { n: 3 } },
    { x: 1, event: 'abort', by: 'client' },
  ])
})

test('a stream that breaks off fails its reader with the same error, and the tape says which side broke it', async () => {
  const broken = new Error('gone')
  const { recording, fetched } = answering(
    () => new Response(new ReadableStream({ pull: () => Promise.reject(broken) }), JSON_HEAD),
  )
  const response = await fetched(URL_S, POST)
  await expect(response.text()).rejects.toBe(broken)
  expect(await linesWhenClosed(recording)).toContainEqual(
    expect.objectContaining({ x: 1, event: 'abort', by: 'server', why: 'gone' }),
  )
})

test('an unreachable server and a caller that aborts are recorded differently', async () => {
  const unreachable = new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })
  const { recording, fetched } = answering(() => Promise.reject(unreachable))
  await expect(fetched(URL_S, POST)).rejects.toBe(unreachable)
  await expect(fetched(URL_S, { ...POST, signal: AbortSignal.abort() })).rejects.toBe(unreachable)
  const events = (await linesWhenClosed(recording)).filter(({ x, event }) => x !== undefined && event)
  expect(events).toMatchObject([
    { x: 1, event: 'unreachable', why: 'fetch failed: ECONNREFUSED' },
    { x: 2, event: 'abort', by: 'client' },
  ])
})

test('the response keeps its status, headers, URL and body', async () => {
  const { fetched } = answering(() => {
    const answer = new Response('{"a":1.0}', { status: 404, statusText: 'Nope', ...JSON_HEAD })
    return Object.defineProperties(answer, {
      url: { value: 'http://s.test/there' },
      redirected: { value: true },
    })
  })
  const answer = await fetched(URL_S, POST)
  const { status, statusText, url, redirected, ok } = answer
  expect({ status, statusText, url, redirected, ok }).toEqual({
    status: 404,
    statusText: 'Nope',
    url: 'http://s.test/there',
    redirected: true,
    ok: false,
  })
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe('{"a":1.0}')
})

test('cancelling the body of a 202 is not an abort', async () => {
  const { recording, fetched } = answering(() => new Response('', { status: 202 }))
  await (await fetched(URL_S, POST)).body?.cancel()
  expect(JSON.stringify(await linesWhenClosed(recording))).not.toContain('abort')
})

test('requests to other origins are passed on unchanged and not recorded', async () => {
  const token = Response.json({ access_token: 'very-secret' })
  const { recording, fetched } = answering(() => token)
  expect(await fetched('http://auth.test/token', POST)).toBe(token)
  expect(await linesWhenClosed(recording)).toHaveLength(2)
})

test('a server is recorded over HTTP or over another transport, not both', () => {
  const { recording } = answering(() => new Response())
  expect(() => recording.link({ server: 's', info: { transport: 'in-process' } })).toThrow(
    'is recorded over HTTP and over another transport',
  )
})

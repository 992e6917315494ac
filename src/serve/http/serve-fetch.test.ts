import { expect, test } from 'vitest'
import { createServedRecording, type ServedRecording } from './served-recording.ts'
import {
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../../../test/support/tape-of.ts'
import type { Tape } from '../../store/file/read.ts'
import { serveFetch } from './serve-fetch.ts'

const URL_OF_SERVER = new URL('http://recorded.test/mcp')
const STREAM = { accept: 'text/event-stream' }
const LIST_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }

function fetching(...said: readonly Said[]): ReturnType<typeof serveFetch> {
  return fetchingRecording(...said).fetch
}

function fetchingRecording(...said: readonly Said[]): {
  readonly fetch: ReturnType<typeof serveFetch>
  readonly recording: ServedRecording
} {
  const tape = tapeOf(...said)
  let ids = 0
  const recording = createServedRecording({
    options: { tape, server: 'demo' },
    newId: () => `session-${++ids}`,
    commandFor: () => '',
  })
  return { fetch: serveFetch(URL_OF_SERVER, () => Promise.resolve(recording)), recording }
}

function post(message: object, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  }
}

const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
}

async function startSession(fetch: ReturnType<typeof serveFetch>): Promise<Record<string, string>> {
  const response = await fetch(URL_OF_SERVER, post(INITIALIZE))
  expect(await response.json()).toMatchObject({ id: 1 })
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
}

test('a GET of a session opens its standing stream, as with serve --http', async () => {
  const fetch = fetching(...HANDSHAKE, server(LIST_CHANGED))
  const session = await startSession(fetch)
  await fetch(URL_OF_SERVER, post({ method: 'notifications/initialized' }, session))
  const stream = await fetch(URL_OF_SERVER, { headers: { ...STREAM, ...session } })
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(await firstText(stream, 'list_changed')).toContain(JSON.stringify(LIST_CHANGED))
  const second = await fetch(URL_OF_SERVER, { headers: { ...STREAM, ...session } })
  expect(second.status).toBe(409)
})

test('a stream that the client lost is resumed after the last event', async () => {
  const fetch = fetching(...HANDSHAKE, server(LIST_CHANGED))
  const session = await startSession(fetch)
  await fetch(URL_OF_SERVER, post({ method: 'notifications/initialized' }, session))
  const lost = new AbortController()
  const stream = await fetch(URL_OF_SERVER, { headers: { ...STREAM, ...session }, signal: lost.signal })
  const [, id = ''] = /^id: (.+)$/m.exec(await firstText(stream, 'list_changed')) ?? []
  lost.abort()
  const resumed = await fetch(URL_OF_SERVER, { headers: { ...STREAM, ...session, 'last-event-id': id } })
  expect(resumed.status).toBe(200)
  const unknown = await fetch(URL_OF_SERVER, { headers: { ...STREAM, ...session, 'last-event-id': 'x' } })
  expect(unknown.status).toBe(400)
})

test('a session that was ended is not found', async () => {
  const fetch = fetching(...HANDSHAKE)
  const session = await startSession(fetch)
  expect((await fetch(URL_OF_SERVER, { method: 'DELETE', headers: session })).status).toBe(200)
  expect((await fetch(URL_OF_SERVER, post({ id: 2, method: 'ping' }, session))).status).toBe(404)
})

test('a modern request without its headers is refused, and one with them is answered', async () => {
  const call = { ...callOf(1, 'count', {}), params: { name: 'count', arguments: {}, _meta: ENVELOPE } }
  const result = { content: [{ type: 'text', text: 'one' }], resultType: 'complete' }
  const fetch = fetching(client(call), server({ id: 1, result }))
  const version = { 'mcp-protocol-version': '2026-07-28' }
  const refused = await fetch(URL_OF_SERVER, post(call, version))
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ id: 1, error: { code: -32020 } })
  const headers = { ...version, 'mcp-method': 'tools/call', 'mcp-name': 'count' }
  const answered = await fetch(URL_OF_SERVER, post(call, headers))
  expect(await answered.json()).toMatchObject({ id: 1, result })
  expect((await fetch(URL_OF_SERVER, { headers: STREAM })).status).toBe(405)
})

test('a client that opens a session with a modern tape gets an error that says so, and the summary has a note', async () => {
  const { fetch, recording } = fetchingRecording(
    client({ id: 1, method: 'server/discover', params: { _meta: ENVELOPE } }),
    server({ id: 1, result: { supportedVersions: ['2026-07-28', '2025-11-25'], resultType: 'complete' } }),
  )
  const response = await fetch(URL_OF_SERVER, post(INITIALIZE))
  expect([response.status, await response.json()]).toEqual([
    400,
    expect.objectContaining({
      error: {
        code: -32022,
        message: expect.stringContaining('the tape was recorded with 2026-07-28, which has no initialize'),
        data: { supported: ['2026-07-28'], requested: '2025-11-25' },
      },
    }),
  ])
  expect(recording.drift().notes).toEqual([expect.stringMatching(/^initialize was refused: /)])
})

test('a client that aborts a fetch gets its own reason', async () => {
  const fetch = fetching(...HANDSHAKE)
  const session = await startSession(fetch)
  const left = new AbortController()
  const stream = await fetch(URL_OF_SERVER, { headers: { ...STREAM, ...session }, signal: left.signal })
  const reading = stream.text()
  left.abort(new Error('left'))
  await expect(reading).rejects.toThrow('left')
})

async function firstText(response: Response, wanted: string): Promise<string> {
  let text = ''
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  while (!text.includes(wanted)) text += (await reader?.read())?.value ?? ''
  return text
}

test('a GET before the session, as the AI SDK sends it, is no session: initialize gets the first recorded one', async () => {
  const tape = tapeOf(
    ...HANDSHAKE,
    client(callOf(1, 'count', {})),
    server({ id: 1, result: { content: [] } }),
    { dir: 'c2s', text: JSON.stringify({ jsonrpc: '2.0', ...INITIALIZE }), conn: 2 },
  )
  const recording = createServedRecording({
    options: { tape: { ...tape, rest: GET_HEADS }, server: 'demo' },
    newId: () => 's',
    commandFor: () => '',
  })
  const fetch = serveFetch(URL_OF_SERVER, () => Promise.resolve(recording))
  const early = await fetch(URL_OF_SERVER, { headers: { ...STREAM, 'mcp-protocol-version': '2025-11-25' } })
  expect([early.status, await early.json()]).toMatchObject([400, { error: { code: -32000 } }])
  const session = await startSession(fetch)
  const answer = await fetch(URL_OF_SERVER, post(callOf(2, 'count', {}), session))
  expect(await answer.json()).toMatchObject({ id: 2, result: { content: [] } })
  expect(recording.drift()).toMatchObject({ leftOver: [], misses: [] })
})

const GET_HEADS: Tape['rest'] = [
  {
    kind: 'http',
    n: 1,
    t: 0,
    server: 'demo',
    conn: 1,
    x: 1,
    dir: 'c2s',
    http: { method: 'GET', path: '/mcp', headers: [['mcp-protocol-version', '2025-11-25']] },
  },
]

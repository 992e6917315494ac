import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { httpServer } from '../support/http.ts'
import { REELAY, linesOf, start, temporaryFolder, until, type Running } from '../support/recorder.ts'

const SESSION = 'session-7'
const TOKEN = 'tok-5d0c'
const INITIALIZE = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }
const RESULT = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

test('the id and version of a session are in every request after the first, and it is deleted at the end', async () => {
  const { origin, seen } = await legacyServer()
  const { client, say, end } = bridge(`${origin}/mcp`)
  say(INITIALIZE)
  await client.line('"id":0')
  say({ method: 'notifications/initialized' }, { id: 'a', method: 'ping' })
  expect(await client.line('"id":"a"')).toBe('{"jsonrpc":"2.0","id":"a","result":{"session":"session-7"}}')
  await end()
  const posted = seen.map(({ method, session, version, rpc }) => [method, rpc, session, version])
  expect(posted).toContainEqual(['GET', undefined, SESSION, '2025-11-25'])
  expect(posted.filter(([method]) => method !== 'GET')).toEqual([
    ['POST', 'initialize', undefined, undefined],
    ['POST', 'notifications/initialized', SESSION, '2025-11-25'],
    ['POST', 'ping', SESSION, '2025-11-25'],
    ['DELETE', undefined, SESSION, '2025-11-25'],
  ])
})

test('messages arrive in the client’s order, however slow the server is to accept a notification', async () => {
  const accepted: string[] = []
  const { origin } = await httpServer(async (req, res) => {
    const { id, method } = await messageIn(req)
    if (method === 'slow') await new Promise((later) => setTimeout(later, 50))
    accepted.push(method)
    if (id === undefined) res.writeHead(202).end()
    else json(res, { id, result: {} })
  })
  const { client, say } = bridge(`${origin}/mcp`)
  say({ method: 'slow' }, { id: 1, method: 'first' }, { method: 'slow' }, { id: 2, method: 'second' })
  await client.line('"id":2')
  expect(accepted).toEqual(['slow', 'first', 'slow', 'second'])
})

test('unsolicited messages of the server reach the client, and the client’s response reaches the server', async () => {
  const { origin, seen } = await legacyServer({
    onStream: (res) => void res.write('data: {"jsonrpc":"2.0",\ndata: "id":9,"method":"roots/list"}\n\n'),
  })
  const { client, say } = bridge(`${origin}/mcp`)
  say(INITIALIZE)
  await client.line('"id":0')
  say({ method: 'notifications/initialized' })
  expect(await client.line('roots/list')).toBe('{"jsonrpc":"2.0", "id":9,"method":"roots/list"}')
  say({ id: 9, result: { roots: [] } })
  await until(() => seen.some(({ body }) => body?.includes('"roots":[]')))
})

test('a stream that ends before the response is resumed where it ended', async () => {
  const resumed: unknown[] = []
  const { origin } = await httpServer(async (req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    if (req.method === 'POST') return void res.end('id: 4::0\nretry: 10\ndata: \n\n')
    resumed.push(req.headers['last-event-id'])
    if (resumed.length < 3) res.end(`id: 4::${resumed.length}\ndata: {"jsonrpc":"2.0","method":"m"}\n\n`)
    else res.end('data: {"jsonrpc":"2.0","id":1,"result":"at last"}\n\n')
  })
  const { client, say } = bridge(`${origin}/mcp`)
  say({ id: 1, method: 'long' })
  await client.line('at last')
  expect(resumed).toEqual(['4::0', '4::1', '4::2'])
})

test('a stream that breaks off and cannot be resumed is an error for its request', async () => {
  const { origin } = await httpServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write('data: {"jsonrpc":"2.0","method":"m"}\n\n', () => res.destroy())
  })
  const { client, say } = bridge(`${origin}/mcp`)
  say({ id: 1, method: 'long' })
  expect(JSON.parse(await client.line('"id":1'))).toMatchObject({ id: 1, error: { code: -39502 } })
})

test('modern requests repeat their content in headers, including tool arguments', async () => {
  const seen: Record<string, unknown>[] = []
  const region = { type: 'string', 'x-mcp-header': 'Region' }
  const depth = { type: 'object', properties: { level: { type: 'integer', 'x-mcp-header': 'Level' } } }
  const tool = { name: 'naïve', inputSchema: { type: 'object', properties: { region, depth, plain: {} } } }
  const { origin } = await httpServer(async (req, res) => {
    const mcp = Object.entries(req.headers).filter(([name]) => name.startsWith('mcp-'))
    seen.push(Object.fromEntries(mcp))
    const { id, method } = await messageIn(req)
    json(res, { id, result: { resultType: 'complete', ...(method === 'tools/list' && { tools: [tool] }) } })
  })
  const { client, say } = bridge(`${origin}/mcp`)
  say({ id: 1, method: 'tools/list', params: { _meta: MODERN } })
  await client.line('"id":1')
  const args = { region: ' é', depth: { level: 3 }, plain: 'p' }
  say({ id: 2, method: 'tools/call', params: { name: 'naïve', arguments: args, _meta: MODERN } })
  await client.line('"id":2')
  say({ id: 3, method: 'resources/read', params: { uri: 'file:///a', _meta: MODERN } })
  await client.line('"id":3')
  const version = { 'mcp-protocol-version': '2026-07-28' }
  expect(seen).toEqual([
    { ...version, 'mcp-method': 'tools/list' },
    {
      ...version,
      'mcp-method': 'tools/call',
      'mcp-name': `=?base64?${Buffer.from('naïve').toString('base64')}?=`,
      'mcp-param-region': `=?base64?${Buffer.from(' é').toString('base64')}?=`,
      'mcp-param-level': '3',
    },
    { ...version, 'mcp-method': 'resources/read', 'mcp-name': 'file:///a' },
  ])
})

test('a modern request is cancelled by disconnecting, and the server gets no message', async () => {
  const seen: string[] = []
  let left = false
  const { origin } = await httpServer(async (req, res) => {
    seen.push((await messageIn(req)).method)
    res.on('close', () => (left = true))
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': working\n\n')
  })
  const { say, tape } = bridge(`${origin}/mcp`)
  say({ id: 1, method: 'tools/call', params: { name: 'x', _meta: MODERN } })
  await until(() => seen.length === 1)
  say({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await until(() => left)
  expect(seen).toEqual(['tools/call'])
  await until(() => linesOf(tape).some(({ event, by }) => event === 'abort' && by === 'client'))
})

test('a legacy request is cancelled with a message, and no response is not an error', async () => {
  const { origin, seen } = await legacyServer({ silentOn: 'tools/call' })
  const { client, say, end } = bridge(`${origin}/mcp`)
  say({ id: 1, method: 'tools/call' })
  await until(() => seen.length === 1)
  say({ method: 'notifications/cancelled', params: { requestId: 1 } }, { id: 2, method: 'ping' })
  await client.line('"id":2')
  await end()
  expect(seen.map(({ rpc }) => rpc)).toEqual(['tools/call', 'notifications/cancelled', 'ping'])
  expect(client.stdout().toString()).not.toContain('"id":1')
})

test('a server that requires authorization: the error names the ways that work', async () => {
  const { origin } = await httpServer((_req, res) =>
    res.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end(),
  )
  const { client, say } = bridge(`${origin}/mcp`)
  say(INITIALIZE)
  const { error } = JSON.parse(await client.line('"id":0')) as { error: { code: number; message: string } }
  expect(error.code).toBe(-39_401)
  expect(error.message).toMatch(/--header 'Authorization: Bearer \$\{env\.TOKEN\}'.*--forward/)
})

test('the bridge adds the token to every request, also after a redirect, and no tape or other server gets it', async () => {
  const elsewhere: string[] = []
  const other = await httpServer((req, res) => {
    elsewhere.push(req.headers.authorization ?? 'none')
    res.end()
  })
  const seen: unknown[] = []
  const { origin } = await httpServer(async (req, res) => {
    seen.push([req.url, req.headers.authorization])
    if (req.url === '/mcp') return void res.writeHead(307, { Location: '/mcp/' }).end()
    const { id, method } = await messageIn(req)
    if (method === 'away') res.writeHead(307, { Location: `${other.origin}/mcp?key=hidden` }).end()
    else json(res, { id, result: {} })
  })
  const own = ['--header', 'Authorization: Bearer ${env.BRIDGE_TOKEN}']
  const { client, say, end, tape } = bridge(`${origin}/mcp`, { options: own, env: { BRIDGE_TOKEN: TOKEN } })
  say({ id: 1, method: 'here' })
  await client.line('"id":1')
  say({ id: 2, method: 'away' })
  expect(await client.line('"id":2')).toContain(
    `the server has moved to ${other.origin}/mcp, where nothing was sent`,
  )
  await end()
  expect(seen).toEqual(['/mcp', '/mcp/', '/mcp', '/mcp/'].map((path) => [path, `Bearer ${TOKEN}`]))
  expect(elsewhere).toEqual([])
  expect(readFileSync(tape, 'utf8') + client.stderr()).not.toContain(TOKEN)
})

test('the URL and the headers can come from variables, and are then not in the command line or on the tape', async () => {
  const seen: unknown[] = []
  const { origin } = await httpServer(async (req, res) => {
    seen.push([req.url, req.headers['x-key'], req.headers['x-empty'], req.headers['x-none']])
    json(res, { id: (await messageIn(req)).id, result: {} })
  })
  const headers = ['X-Key=SOME_KEY', 'X-Empty=NOTHING', 'X-None=NO_SUCH_VARIABLE?']
  const { client, say, end, tape } = bridge('', {
    options: ['--url-env', 'SOME_URL', ...headers.flatMap((header) => ['--header-env', header])],
    env: { SOME_URL: `${origin}/mcp?token=${TOKEN}`, SOME_KEY: 'key-8812', NOTHING: '' },
  })
  say({ id: 1, method: 'ping' })
  await client.line('"id":1')
  await end()
  expect(seen).toEqual([[`/mcp?token=${TOKEN}`, 'key-8812', '', undefined]])
  const told = readFileSync(tape, 'utf8') + client.stderr() + client.child.spawnargs.join(' ')
  expect(told).not.toMatch(new RegExp(`${TOKEN}|key-8812`))
})

test('errors of the server keep their text and get the id of the request; an unreachable server is named', async () => {
  const server = await httpServer((_req, res) => {
    res.writeHead(400, { 'Content-Type': 'application/json' })
    res.end('{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request"},"id":null}')
  })
  const { client, say } = bridge(`${server.origin}/mcp`)
  say({ id: 'x', method: 'server/discover', params: { _meta: MODERN } })
  expect(await client.line('"x"')).toBe(
    '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request"},"id":"x"}',
  )
  server.close()
  say({ id: 2, method: 'ping' })
  expect(JSON.parse(await client.line('"id":2'))).toMatchObject({
    error: {
      code: -39_502,
      message: expect.stringContaining(`the request to ${server.origin} failed`) as string,
    },
  })
})

test('a session that the server has forgotten is an error that says what to do', async () => {
  const { origin, forget } = await legacyServer()
  const { client, say } = bridge(`${origin}/mcp`)
  say(INITIALIZE)
  await client.line('"id":0')
  forget()
  say({ id: 1, method: 'ping' })
  expect(await client.line('"id":1')).toContain('restart the server in the client')
})

test('a session that the server has forgotten is also reported on stderr, once', async () => {
  const { origin } = await httpServer(async (req, res) => {
    const { id, method } = await messageIn(req)
    if (method === 'initialize')
      return json(res.setHeader('Mcp-Session-Id', SESSION), { id: id ?? 0, result: RESULT })
    res.writeHead(404, { 'Content-Type': 'application/json' })
    res.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
  })
  const { client, say } = bridge(`${origin}/mcp`)
  say(INITIALIZE)
  await client.line('"id":0')
  say({ id: 1, method: 'ping' }, { id: 2, method: 'ping' })
  expect(await client.line('"id":1')).toContain('Session not found')
  await client.line('"id":2')
  await until(() => client.stderr().includes('no longer knows this session'))
  expect(client.stderr().match(/restart the server in the client/g)).toHaveLength(1)
})

test('a notification that the server rejects is reported on stderr', async () => {
  const { origin } = await httpServer((_req, res) => {
    res.writeHead(400, { 'Content-Type': 'application/json' })
    res.end('{"jsonrpc":"2.0","error":{"code":-32600,"message":"no such notification"},"id":null}')
  })
  const { client, say } = bridge(`${origin}/mcp`)
  say({ method: 'notifications/odd' })
  await until(() => client.stderr().includes('answered'))
  expect(client.stderr()).toContain(`${origin}/mcp answered with status 400: no such notification\n`)
})

test('pending responses are delivered when the input ends, and the tape can be served', async () => {
  const { origin } = await legacyServer()
  const { client, say, tape } = bridge(`${origin}/mcp`)
  say(INITIALIZE, { method: 'notifications/initialized' }, { id: 1, method: 'ping' })
  client.child.stdin.end()
  expect(await client.exited).toEqual({ code: 0, signal: null })
  expect(client.stdout().toString().trim().split('\n')).toHaveLength(2)
  const { turns, strays, ended } = await loadTape(tape)
  expect({ turns: turns.length, strays, ended }).toEqual({ turns: 3, strays: [], ended: true })
})

test('a session starts with its response, even if the server keeps the stream of that response open', async () => {
  const { origin } = await httpServer(async (req, res) => {
    const { id, method } = await messageIn(req)
    if (method !== 'initialize') return json(res, { id, result: {} })
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Mcp-Session-Id': SESSION })
    res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: RESULT })}\n\n`)
  })
  const { client, say, end } = bridge(`${origin}/mcp`)
  say(INITIALIZE, { id: 1, method: 'ping' })
  await client.line('"id":1')
  expect(await end()).toEqual({ code: 0, signal: null })
})

test('a server that does not respond to the DELETE is not waited for long, and the exit code is 0', async () => {
  const { origin, seen } = await legacyServer({ silentOn: 'DELETE' })
  const { client, say, end } = bridge(`${origin}/mcp`)
  say(INITIALIZE)
  await client.line('"id":0')
  expect(await end()).toEqual({ code: 0, signal: null })
  expect(seen.at(-1)).toMatchObject({ method: 'DELETE' })
})

interface Seen {
  readonly method: string | undefined
  readonly rpc?: string | undefined
  readonly body?: string
  readonly session: string | undefined
  readonly version: string | undefined
}

interface LegacyOptions {
  readonly onStream?: (res: ServerResponse) => void
  readonly silentOn?: string
}

async function legacyServer({ onStream = () => {}, silentOn }: LegacyOptions = {}): Promise<{
  origin: string
  seen: readonly Seen[]
  forget: () => void
}> {
  const seen: Seen[] = []
  let isForgotten = false
  const { origin } = await httpServer(async (req, res) => {
    const body = await text(req)
    const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string }
    const [session, version] = ['mcp-session-id', 'mcp-protocol-version'].map((name) => req.headers[name])
    seen.push({ method: req.method, rpc: method, body, session: textIn(session), version: textIn(version) })
    if (isForgotten) return void res.writeHead(404).end()
    if (req.method === 'GET') return onStream(res.writeHead(200, { 'Content-Type': 'text/event-stream' }))
    if (silentOn !== undefined && silentOn === (method ?? req.method))
      return res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    if (id === undefined || method === undefined) return void res.writeHead(202).end()
    res.setHeader('Mcp-Session-Id', SESSION)
    json(res, { id, result: method === 'initialize' ? RESULT : { session } })
  })
  return { origin, seen, forget: () => void (isForgotten = true) }
}

function textIn(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header)
}

async function messageIn(req: IncomingMessage): Promise<{ id?: number; method: string }> {
  const body = await text(req)
  return body === '' ? { method: '' } : (JSON.parse(body) as { id?: number; method: string })
}

function json(res: ServerResponse, message: object): void {
  res.writeHead(200, { 'Content-Type': 'application/json' })
  res.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
}

interface Bridged {
  readonly client: Running
  readonly tape: string
  readonly say: (...messages: readonly object[]) => void
  readonly end: () => Promise<unknown>
}

function bridge(
  url: string,
  { options = [], env = {} }: { options?: readonly string[]; env?: Record<string, string> } = {},
): Bridged {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const command = [
    process.execPath,
    REELAY,
    'record',
    '--bridge',
    ...(url === '' ? [] : ['--url', url]),
    '-o',
    tape,
    ...options,
  ]
  const client = start(command, { env: { ...process.env, ...env } })
  const say = (...messages: readonly object[]): void => {
    for (const message of messages)
      client.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const end = (): Promise<unknown> => {
    client.child.stdin.end()
    return client.exited
  }
  return { client, tape, say, end }
}

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { brotliCompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { attach } from '../support/control.ts'
import { proxyAccess } from '../support/forward.ts'
import { ask, httpServer, post, type Answer } from '../support/http.ts'
import { linesOf, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

// The tests find the control socket of a recorder by its home.
beforeEach(() => {
  process.env['REELAY_HOME'] = temporaryFolder()
})

const call = (id: number, name: string, args: object = {}, meta: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
})

interface Link {
  readonly tape: string
  /** Sends a message and returns what the client gets for it. */
  readonly send: (message: object) => Promise<string>
  readonly end: () => Promise<unknown>
}

type Opener = (url: string, ...options: string[]) => Promise<Link>

const reverse: Opener = async (url, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '-o', tape, '--url', url, ...options])
  const given = (): string | undefined => /client: (http\S+)/.exec(run.stderr())?.[1]
  await until(() => given() !== undefined)
  const send = async (message: object): Promise<string> =>
    bodyOf(await ask(given() ?? '', post(message, ACCEPT)))
  return { tape, send, end: () => (run.child.kill('SIGTERM'), run.exited) }
}

const forward: Opener = async (url, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '--forward', '-o', tape, ...options])
  const proxy = (): string | undefined => /HTTP_PROXY=(\S+)/.exec(run.stderr())?.[1]
  await until(() => proxy() !== undefined)
  const { origin, headers } = proxyAccess(proxy() ?? '')
  const send = async (message: object): Promise<string> =>
    bodyOf(
      await ask(origin, { ...post(message, { Host: new URL(url).host, ...headers, ...ACCEPT }), path: url }),
    )
  return { tape, send, end: () => (run.child.kill('SIGTERM'), run.exited) }
}

const bridge: Opener = async (url, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '--bridge', '--url', url, '-o', tape, ...options])
  const send = (message: object): Promise<string> => {
    run.child.stdin.write(`${JSON.stringify(message)}\n`)
    return run.line(`"id":${Reflect.get(message, 'id')}`)
  }
  return { tape, send, end: () => (run.child.stdin.end(), run.exited) }
}

const ACCEPT = { Accept: 'application/json, text/event-stream' }
const LINKS: readonly (readonly [string, Opener])[] = [
  ['--url', reverse],
  ['--forward', forward],
  ['--bridge', bridge],
]

/** What a client reads from a response: the JSON, or the data of its last event. */
function bodyOf({ body }: Answer): string {
  const events = body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: '))
  return events.at(-1)?.slice('data: '.length) ?? body.toString()
}

/** Answers a call with its arguments, as JSON or as a stream of events. */
async function echoServer(kind: 'json' | 'events'): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const { origin } = await httpServer(async (req: IncomingMessage, res) => {
    const body = await text(req)
    if (req.method !== 'POST') return res.writeHead(405).end()
    seen.push(body)
    const { id, params } = JSON.parse(body) as { id?: number; params?: { arguments?: object } }
    if (id === undefined) return res.writeHead(202).end()
    const response = JSON.stringify({ jsonrpc: '2.0', id, result: { echo: params?.arguments ?? {} } })
    if (kind === 'json') return res.writeHead(200, { 'Content-Type': 'application/json' }).end(response)
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    return res.end(`: first\n\nevent: message\nid: 7\ndata: ${response}\n\n`)
  })
  return { url: `${origin}/mcp`, seen }
}

describe.each(LINKS)('record %s --intercept', (_, open) => {
  test.each(['json', 'events'] as const)(
    'a request and its response, as %s, are held and changed, and both forms are on the tape',
    async (kind) => {
      const { url, seen } = await echoServer(kind)
      const link = await open(url, '--intercept', 'tool:search')
      const user = await attach(link.tape)
      const other = link.send(call(1, 'other', { q: 'passes' }))
      expect(await other).toContain('passes')
      const answer = link.send(call(2, 'search', { city: 'Oslo' }))
      const request = await user.held()
      expect(request).toMatchObject({ dir: 'c2s', target: 'search' })
      await user.command('edit', { key: request.key, text: request.text.replace('Oslo', 'Bergen') })
      const response = await user.held()
      expect(response).toMatchObject({ dir: 's2c', method: 'tools/call', target: 'search' })
      await user.command('edit', { key: response.key, text: response.text.replace('Bergen', 'Rome') })
      expect(await answer).toContain('Rome')
      expect(seen.at(-1)).toContain('Bergen')
      await link.end()
      const changed = linesOf(link.tape).filter((frame) => frame['modified'] === true)
      expect(changed.map((frame) => [frame['dir'], frame['side']])).toEqual([
        ['c2s', 'server'],
        ['s2c', 'client'],
      ])
      const textOf = async (side: 'client' | 'server'): Promise<string> => {
        const { turns } = await loadTape(link.tape, side)
        const [, turn] = turns
        return `${turn?.exchange} ${turn?.trigger?.text} ${turn?.response?.text}`
      }
      expect(await textOf('client')).toMatch(/^2 .*Oslo.*Rome/)
      expect(await textOf('server')).toMatch(/^2 .*Bergen.*Bergen/)
    },
  )

  test('a request is answered by the user and never reaches the server', async () => {
    const { url, seen } = await echoServer('json')
    const link = await open(url, '--intercept', 'tool:search')
    const user = await attach(link.tape)
    const answer = link.send(call(1, 'search'))
    const { key } = await user.held()
    await user.command('answer', { key, error: { code: -32000, message: 'not today' } })
    expect(await answer).toContain('not today')
    expect(seen.filter((body) => body.includes('search'))).toEqual([])
    await link.end()
    const [turn] = (await loadTape(link.tape)).turns
    expect(turn?.response?.text).toContain('not today')
    expect((await loadTape(link.tape, 'server')).turns).toEqual([])
  })

  test('a request is sent again for the user alone', async () => {
    const { url } = await echoServer('events')
    const link = await open(url, '--intercept', 'tool:nothing')
    const user = await attach(link.tape)
    await link.send(call(1, 'search', { q: 'again' }))
    await user.command('repeat', { exchange: 1 })
    await until(() => user.events.some(({ event }) => event === 'repeated'))
    expect(JSON.stringify(user.events.at(-1))).toContain('again')
    await link.end()
    expect((await loadTape(link.tape)).turns).toHaveLength(1)
  })
})

test('a client that wants progress gets it as events while its request is held, and then the response', async () => {
  const { url } = await echoServer('json')
  const link = await reverse(url, '--intercept', 'tool:search', '--hold-limit', '2s')
  const user = await attach(link.tape)
  const tape = join(link.tape)
  const whole = link.send(call(1, 'search', { q: 'slow' }, { progressToken: 'p' }))
  const { key, hasProgress } = await user.held()
  expect(hasProgress).toBe(true)
  await until(() => linesOf(tape).some((frame) => frame['action'] === 'progress'))
  await user.command('forward', { key })
  const response = await user.held()
  await user.command('forward', { key: response.key })
  expect(await whole).toContain('"echo":{"q":"slow"}')
  await link.end()
})

test('a dropped request ends its connection, and a dropped event is left out of its stream', async () => {
  const { url } = await echoServer('events')
  const link = await reverse(url, '--intercept', 'tool:search')
  const user = await attach(link.tape)
  const lost = link.send(call(1, 'search')).catch(String)
  const first = await user.held()
  await user.command('drop', { key: first.key })
  expect(await lost).toContain('socket hang up')
  await user.command('filter', { filter: 'tool:search dir:s2c' })
  const empty = link.send(call(2, 'search'))
  const second = await user.held()
  await user.command('drop', { key: second.key })
  expect(await empty).toBe(': first\n\n')
  await link.end()
})

const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, 'deflate ': deflateRawSync }

/** Answers with the arguments of a call, compressed, and keeps what it has seen. */
async function compressingServer(
  kind: 'json' | 'events',
  encoding: keyof typeof ENCODERS,
): Promise<{ url: string; seen: { body: Buffer; headers: IncomingMessage['headers'] }[] }> {
  const seen: { body: Buffer; headers: IncomingMessage['headers'] }[] = []
  const { origin } = await httpServer(async (req: IncomingMessage, res) => {
    const body = await buffer(req)
    seen.push({ body, headers: req.headers })
    const plain = req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    const { id, params } = JSON.parse(plain.toString()) as { id: number; params: { arguments: object } }
    const json = JSON.stringify({ jsonrpc: '2.0', id, result: { echo: params.arguments } })
    const whole = kind === 'json' ? json : `: first\n\nevent: message\nid: 7\ndata: ${json}\n\n`
    const bytes = ENCODERS[encoding](Buffer.from(whole))
    const type = kind === 'json' ? 'application/json' : 'text/event-stream'
    res.writeHead(200, { 'Content-Type': type, 'Content-Encoding': encoding.trim() }).end(bytes)
  })
  return { url: `${origin}/mcp`, seen }
}

async function sendTo(url: string, ...options: string[]) {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '-o', tape, '--url', url, ...options])
  const given = (): string | undefined => /client: (http\S+)/.exec(run.stderr())?.[1]
  await until(() => given() !== undefined)
  return {
    tape,
    stderr: run.stderr,
    ask: (body: Buffer | string, headers: Record<string, string> = {}): Promise<Answer> => {
      const length = { 'Content-Length': String(Buffer.byteLength(body)) }
      return ask(given() ?? '', { ...post({}, { ...ACCEPT, ...headers, ...length }), body })
    },
    end: () => (run.child.kill('SIGTERM'), run.exited),
  }
}

function headerOf({ headers }: Answer, name: string): string | undefined {
  const line = headers.find((each) => each.toLowerCase().startsWith(`${name}: `))
  return line?.slice(name.length + 2)
}

test.each([
  ['json', 'gzip'],
  ['json', 'br'],
  ['json', 'deflate'],
  ['json', 'deflate '],
  ['events', 'gzip'],
  ['events', 'br'],
] as const)('compressed messages are held and changed: %s, %s', async (kind, encoding) => {
  const { url, seen } = await compressingServer(kind, encoding)
  const link = await sendTo(url, '--intercept', 'tool:search')
  const user = await attach(link.tape)
  const gzipped = gzipSync(JSON.stringify(call(1, 'search', { city: 'Oslo' })))
  const answer = link.ask(gzipped, { 'Content-Encoding': 'gzip', 'Accept-Encoding': 'gzip, br, deflate' })
  const request = await user.held()
  expect(request).toMatchObject({ dir: 'c2s', target: 'search' })
  await user.command('edit', { key: request.key, text: request.text.replace('Oslo', 'Bergen') })
  const response = await user.held()
  await user.command('edit', { key: response.key, text: response.text.replace('Bergen', 'Rome') })
  const got = await answer
  expect(bodyOf(got)).toContain('Rome')
  expect(headerOf(got, 'content-encoding')).toBeUndefined()
  expect(seen[0]?.headers['content-encoding']).toBeUndefined()
  expect(seen[0]?.body.toString()).toContain('Bergen')
  // What is not held keeps its bytes, except for a stream of events.
  const other = gzipSync(JSON.stringify(call(2, 'other', { city: 'Rome' })))
  const passed = await link.ask(other, { 'Content-Encoding': 'gzip' })
  expect(seen[1]?.body.equals(other)).toBe(true)
  expect(headerOf(passed, 'content-encoding')).toBe(kind === 'json' ? encoding.trim() : undefined)
  expect(kind === 'json' || bodyOf(passed).includes('Rome')).toBe(true)
  await link.end()
  const notice = /responses that are (\S+) streams of events are forwarded without compression/g
  const notices = [...link.stderr().matchAll(notice)].map(([, name]) => name)
  expect(notices).toEqual(kind === 'json' ? [] : [encoding])
  const lines = linesOf(link.tape)
  expect(lines.filter((frame) => frame['modified'] === true)).toHaveLength(2)
  const { turns } = await loadTape(link.tape)
  expect(turns.map((turn) => [turn.trigger?.text, turn.response?.text].join(' '))).toEqual([
    expect.stringMatching(/Oslo.*Rome/),
    expect.stringMatching(/Rome.*Rome/),
  ])
  const served = await loadTape(link.tape, 'server')
  expect(served.turns[0]?.response?.text).toContain('Bergen')
})

test('a message that cannot be held goes on with the same bytes, and the user is told why', async () => {
  const { url } = await echoServer('json')
  const link = await sendTo(url, '--intercept', 'tool:search')
  const user = await attach(link.tape)
  const told = (): unknown[] => user.events.filter(({ event }) => event === 'passed')
  await link.ask(JSON.stringify(call(9, 'search')), { 'Content-Encoding': 'zstd' })
  await until(() => told().length === 1)
  expect(told()[0]).toMatchObject({ dir: 'c2s', why: 'its content-encoding zstd is not supported' })
  const long = JSON.stringify(call(1, 'search', { text: 'x'.repeat(17 * 1024 * 1024) }))
  expect((await link.ask(long)).body.length).toBeGreaterThan(17 * 1024 * 1024)
  await until(() => told().length >= 2)
  expect(told()[1]).toMatchObject({ dir: 'c2s', why: 'it is longer than 16 MiB' })
  // A long message of another tool is nothing that the filter could have matched.
  const before = told().length
  await link.ask(long.replace('"search"', '"other"'))
  expect(told()).toHaveLength(before)
  await link.end()
  const events = linesOf(link.tape).filter((frame) => frame['event'] === 'intercept')
  expect(events[0]).toMatchObject({ action: 'pass', by: 'recorder', why: expect.stringContaining('zstd') })
})

const notification = (data: string): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: { data } })

test('a stream of events keeps its bytes, whatever ends its lines and however it is cut', async () => {
  const parts = [
    `: begins\n\n`,
    `event: message\r\nid: 1\r\ndata: ${notification('windows')}\r\n\r\n`,
    `data: ${notification('dropped')}\r\r`,
    `id: 3\ndata: {"jsonrpc":"2.0",\ndata: "method":"notifications/two lines"}\n\r\n`,
    `data: ${notification('x'.repeat(17 * 1024 * 1024))}\n\n`,
    `data: ${notification('after')}\n\n`,
    'data: no end',
  ]
  // The third event is complete with a carriage return. Its line feed comes later.
  const lateLineFeed = parts.slice(0, 4).join('').length - 1
  let lineFeedMayCome = Promise.resolve()
  const { origin } = await httpServer(async (req: IncomingMessage, res) => {
    await text(req)
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    const bytes = Buffer.from(parts.join(''))
    for (let at = 0; at < bytes.length;) {
      if (at === lateLineFeed) await lineFeedMayCome
      const length = at < lateLineFeed ? Math.min(7, lateLineFeed - at) : at > bytes.length - 200 ? 7 : 60_000
      if (!res.write(bytes.subarray(at, at + length))) await once(res, 'drain')
      at += length
      if (length <= 7) await new Promise(setImmediate)
    }
    res.end()
  })
  const link = await sendTo(`${origin}/mcp`, '--intercept', 'tool:nothing')
  const user = await attach(link.tape)
  const request = JSON.stringify(call(1, 'search'))
  expect((await link.ask(request)).body.toString() === parts.join('')).toBe(true)
  expect(user.events.some(({ event }) => event === 'passed')).toBe(true)
  await user.command('filter', { filter: 'dropped or two' })
  let sendLineFeed: (() => void) | undefined
  lineFeedMayCome = new Promise((resolve) => (sendLineFeed = resolve))
  const answer = link.ask(request)
  await user.command('drop', { key: (await user.held()).key })
  const { key, text: held } = await user.held()
  sendLineFeed?.()
  expect(JSON.parse(held)).toMatchObject({ method: 'notifications/two lines' })
  await user.command('forward', { key })
  const two = 'data: {"jsonrpc":"2.0",\ndata: "method":"notifications/two lines"}'
  const expected = parts.with(2, '').with(3, `event: message\nid: 3\n${two}\n\n`).join('')
  expect((await answer).body.toString() === expected).toBe(true)
  await link.end()
})

test('headers that repeat parts of a request follow an edit, a removal and a repetition', async () => {
  const seen: IncomingMessage['headers'][] = []
  const { origin } = await httpServer(async (req: IncomingMessage, res) => {
    const { id } = JSON.parse(await text(req)) as { id: number }
    seen.push(req.headers)
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }))
  })
  const link = await sendTo(`${origin}/mcp`, '--intercept', 'tool:search dir:c2s')
  const user = await attach(link.tape)
  const mirrored = {
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'search',
    'Mcp-Param-City': 'Oslo',
    'Mcp-Param-Day': 'today',
  }
  const asked = link.ask(
    JSON.stringify(call(1, 'search', { city: 'Oslo', day: 'today', to: 'Rome' })),
    mirrored,
  )
  const { key, text: held } = await user.held()
  const edited = held.replace('"search"', '"find"').replace('Oslo', 'Zürich').replace('"day":"today",', '')
  await user.command('edit', { key, text: edited })
  await asked
  const zurich = `=?base64?${Buffer.from('Zürich').toString('base64')}?=`
  expect(seen[0]).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'find', 'mcp-param-city': zurich })
  expect(seen[0]).not.toHaveProperty('mcp-param-day')
  const list = link.ask(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }), {
    'Mcp-Method': 'tools/list',
  })
  await list
  await user.command('repeat', { exchange: 1, text: edited })
  await until(() => seen.length === 3)
  expect(seen[2]).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'find' })
  await link.end()
})

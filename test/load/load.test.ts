import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { afterEach, expect, test, vi } from 'vitest'
import { META_KEYS } from '../../src/protocol/message.ts'
import { copyTapeRedacted } from '../../src/share/share-tape.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { call as callOnTape, ENVELOPE, HANDSHAKE } from '../support/tape-of.ts'
import { reelay } from '../replay/reelay.ts'

vi.setConfig({ testTimeout: 60_000 })

const running: Server[] = []
afterEach(() => {
  for (const server of running.splice(0)) server.close()
})

/** What a server saw of its users. */
interface Seen {
  readonly url: string
  readonly sessions: Set<string>
  /** Uses of a handle by another session than the one that it was given to. */
  crossings: number
  closed: number
  readonly tools: string[]
}

/** A server that gives each session a handle, and notices if another session uses it. It can fail every nth call. */
async function handleServer({ failEvery = 0, era = 'legacy' } = {}): Promise<Seen> {
  const owners = new Map<string, string>()
  let [sessions, calls] = [0, 0]
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.method === 'GET') return response.writeHead(405).end()
    if (request.method === 'DELETE') return response.writeHead(200).end()
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { id, method, params } = JSON.parse(body)
    const session = era === 'legacy' ? String(request.headers['mcp-session-id']) : 'stateless'
    const answer = (outcome: object, headers: Record<string, string> = {}): void =>
      void response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'initialize') {
      const name = `session-${++sessions}`
      seen.sessions.add(name)
      return answer(
        { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: INFO } },
        { 'mcp-session-id': name },
      )
    }
    if (method === 'server/discover')
      return answer({
        result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: INFO },
      })
    if (method === 'tools/list') return answer({ result: { tools: TOOLS } })
    seen.tools.push(params.name)
    if (failEvery > 0 && ++calls % failEvery === 0)
      return answer({ error: { code: -32603, message: 'broken' } })
    if (params.name === 'open') {
      const handle = `handle-${crypto.randomUUID()}`
      owners.set(handle, session)
      return answer({ result: { content: [], structuredContent: { handle } } })
    }
    if (params.name === 'read' && owners.get(params.arguments.handle) !== session) seen.crossings++
    if (params.name === 'read' && params._meta?.[META_KEYS.protocolVersion] !== undefined) seen.closed++
    return answer({ result: { content: [{ type: 'text', text: 'read' }] } })
  }
  const server = createServer((request, response) => void respond(request, response))
  running.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const seen: Seen = {
    url: `http://127.0.0.1:${port}/mcp`,
    sessions: new Set(),
    crossings: 0,
    closed: 0,
    tools: [],
  }
  return seen
}

const INFO = { name: 'handles', version: '1' }
const READ_ONLY = { readOnlyHint: true }
const TOOLS = [
  { name: 'open', inputSchema: { type: 'object' }, annotations: READ_ONLY },
  { name: 'read', inputSchema: { type: 'object' }, annotations: READ_ONLY },
  { name: 'remove', inputSchema: { type: 'object' } },
]

const RECORDED_HANDLE = 'handle-2f1c7a52-6f4e-4c44-9a3a-0d6f1d1c2b3a'

/** A tape of a session that opens a handle, reads it three times and removes it. */
function handleTape(era = 'legacy'): string {
  const path = join(temporaryFolder(), 'handles.tape.jsonl')
  const servers = { demo: { transport: 'http', url: 'http://127.0.0.1/mcp' } }
  const header = {
    reelay: 1,
    id: 'made-up',
    started: '2026-11-15T00:00:00.000Z',
    by: 'a test',
    servers,
    tags: {},
  }
  const messages: [string, object][] = []
  const meta = era === 'legacy' ? {} : { _meta: ENVELOPE }
  if (era === 'legacy')
    messages.push(
      [
        'c2s',
        {
          id: 0,
          method: 'initialize',
          params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO },
        },
      ],
      [
        's2c',
        { id: 0, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: INFO } },
      ],
      ['c2s', { method: 'notifications/initialized' }],
    )
  const call = (id: number, name: string, args: object, result: object): void => {
    messages.push(
      ['c2s', { id, method: 'tools/call', params: { ...meta, name, arguments: args } }],
      ['s2c', { id, result: { ...result, ...(era !== 'legacy' && { resultType: 'complete' }) } }],
    )
  }
  call(1, 'open', {}, { content: [], structuredContent: { handle: RECORDED_HANDLE } })
  for (const id of [2, 3, 4])
    call(id, 'read', { handle: RECORDED_HANDLE }, { content: [{ type: 'text', text: 'read' }] })
  call(5, 'remove', { handle: RECORDED_HANDLE }, { content: [{ type: 'text', text: 'read' }] })
  const frames = messages.map(([dir, msg], at) => ({
    n: at + 1,
    t: at,
    server: 'demo',
    conn: 1,
    ...(era !== 'legacy' && { x: Math.floor(at / 2) + 1 }),
    dir,
    msg: { jsonrpc: '2.0', ...msg },
  }))
  const end = { n: frames.length + 1, t: frames.length, event: 'end', frames: frames.length + 1 }
  writeFileSync(path, [header, ...frames, end].map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

test.each(['legacy', 'modern'])(
  'each user of a %s session uses the handles that the server gave to it',
  async (era) => {
    const seen = await handleServer({ era })
    const { code, out } = await reelay(
      'load',
      handleTape(era),
      '--users',
      '5',
      '--for',
      '1s',
      '--url',
      seen.url,
      '--json',
    )
    const report = JSON.parse(out)
    expect([code, seen.crossings]).toEqual([0, 0])
    expect(report.sessions.done).toBeGreaterThan(5)
    expect(report.sessions).toMatchObject({ failed: 0, cut: 0 })
    expect(report.calls.read.outcomes).toEqual({ ok: report.sessions.done * 3 })
    expect(seen.tools).not.toContain('remove')
    expect(report.heldBack).toEqual({ remove: 1 })
    expect(seen.sessions.size >= report.sessions.done).toBe(era === 'legacy') // in the modern era there are no sessions
  },
)

test('a rate starts its number of sessions, and failures are counted by class', async () => {
  const seen = await handleServer({ failEvery: 4 })
  const csv = join(temporaryFolder(), 'seconds.csv')
  const args = [
    'load',
    handleTape(),
    '--rate',
    '20/s',
    '--for',
    '2s',
    '--grace',
    '1m',
    '--url',
    seen.url,
    '--calibrate',
    '0',
  ]
  const more = ['--allow', 'remove', '--slo', 'error<50%,read:p99<30s,rate>=1', '--csv', csv]
  const { code, out } = await reelay(...args, ...more)
  expect(code).toBe(0)
  expect(out).toContain('40 of 40 sessions done')
  expect(out).toMatch(/failed \S+: error -32603 ×\d+/)
  expect(out).toContain('expected times: recording')
  expect(out).toContain('met    error<50%')
  const rows = readFileSync(csv, 'utf8').trim().split('\n')
  expect(rows[0]).toMatch(/^seconds,level,open,/)
  const started = rows.slice(1).map((row) => Number(row.split(',')[3]))
  expect(sum(started)).toBe(40)
})

test('a limit that is not kept ends with exit code 1 and says what was measured', async () => {
  const seen = await handleServer({ failEvery: 2 })
  const args = [
    'load',
    handleTape(),
    '--users',
    '1',
    '--for',
    '1s',
    '--calibrate',
    '0',
    '--grace',
    '1m',
    '--url',
    seen.url,
  ]
  const { code, out } = await reelay(...args, '--slo', 'error<1%')
  expect(code).toBe(1)
  expect(out).toMatch(/MISSED error<1%: \d+\.\d{3} %/)
})

test('two tapes are played by their weights, and a seed repeats the choice', async () => {
  const seen = await handleServer()
  const [one, two] = [handleTape(), handleTape()]
  const args = [
    'load',
    one,
    two,
    '--rate',
    '50',
    '--for',
    '1s',
    '--seed',
    '7',
    '--calibrate',
    '0',
    '--url',
    seen.url,
  ]
  const { code, out } = await reelay(...args, '--weight', `${two}=3`, '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ tapes: [one, two], sessions: { started: 50, done: 50 } })
})

test('a server command is started for each session, and no process is left', async () => {
  const tape = handleTape()
  const args = [
    'load',
    tape,
    '--users',
    '2',
    '--for',
    '1s',
    '--max-processes',
    '2',
    '--allow-writes',
    '--json',
  ]
  const server = [process.execPath, REELAY, 'serve', tape, '--match', 'method', '--leftovers', 'note']
  const { code, out, err } = await reelay(...args, '--', ...server)
  expect(err).toBe('')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ mostOpen: 2, all: { failed: 0 } })
})

test('each of two tapes gets the secrets behind its own placeholders', async () => {
  const tokens = new Set<string>()
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { id, method, params } = request.method === 'POST' ? JSON.parse(body) : {}
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/call') tokens.add(params.arguments.token)
    const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: INFO }
    const result = method === 'initialize' ? initialized : { content: [], tools: TOOLS }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }
  const server = createServer((request, response) => void respond(request, response))
  running.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const secret = `ghp_${'Zx9Qw3Er5Ty7'.repeat(3)}`
  const plain = tapeFile(...HANDSHAKE, ...callOnTape(1, 'read', { token: 'none' }, 'read'))
  const redacted = join(temporaryFolder(), 'redacted.tape.jsonl')
  await copyTapeRedacted({
    from: tapeFile(...HANDSHAKE, ...callOnTape(1, 'read', { token: secret }, 'read')),
    to: redacted,
  })
  expect(readFileSync(redacted, 'utf8')).not.toContain(secret)
  const words = ['--users', '4', '--for', '1s', '--url', `http://127.0.0.1:${port}/mcp`, '--think', 'none']
  const run = start([process.execPath, REELAY, 'load', plain, redacted, ...words], {
    env: { ...process.env, API_TOKEN: secret },
  })
  expect(await run.exited).toMatchObject({ code: 0 })
  expect(tokens).toEqual(new Set(['none', secret]))
})

test('several threads share the users and the sessions, and their figures add up', async () => {
  const seen = await handleServer()
  const folder = temporaryFolder()
  const [csv, hdr] = [join(folder, 'seconds.csv'), join(folder, 'seconds.hdr')]
  const args = [
    'load',
    handleTape(),
    '--rate',
    '30/s',
    '--for',
    '2s',
    '--threads',
    '3',
    '--grace',
    '1m',
    '--url',
    seen.url,
  ]
  const { code, out } = await reelay(...args, '--calibrate', '1', '--csv', csv, '--hdr', hdr, '--json')
  const report = JSON.parse(out)
  expect([code, seen.crossings]).toEqual([0, 0])
  expect(report.sessions).toEqual({ started: 60, done: 60, cut: 0, failed: 0 })
  expect(report.expectedFrom).toBe('calibration')
  expect(report.calls.read.calls).toBe(180)
  const rows = readFileSync(csv, 'utf8').trim().split('\n').slice(1)
  expect(sum(rows.map((row) => Number(row.split(',')[5])))).toBe(report.all.calls)
  const histograms = readFileSync(hdr, 'utf8')
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => decodeFromCompressedBase64(line.split(',')[3] ?? ''))
  expect(sum(histograms.map(({ totalCount }) => totalCount))).toBe(report.all.calls)
})

test('Ctrl+C ends a run with its report and exit code 130', async () => {
  const seen = await handleServer()
  const args = ['load', handleTape(), '--users', '2', '--for', '10m', '--grace', '1m', '--url', seen.url]
  const run = start([process.execPath, REELAY, ...args])
  while (seen.tools.length < 20) await new Promise((resolve) => setTimeout(resolve, 10))
  run.child.kill('SIGINT')
  expect(await run.exited).toMatchObject({ code: 130 })
  expect(run.stdout().toString()).toContain('stopped early')
})

test.each([
  [
    ['--users', '5', '--for', '1s', '--max-processes', '2', '--url', 'http://127.0.0.1:1/mcp'],
    '--max-processes cannot be used together with --url',
  ],
  [
    ['--rate', '5', '--for', '1s', '--url', 'http://198.51.100.7/mcp'],
    'load is sent to this machine only, and 198.51.100.7 is another one',
  ],
  [['--for', '1s', '--url', 'http://127.0.0.1:1/mcp'], 'neither --users nor --rate is given'],
  [['--users', '5', '--url', 'http://127.0.0.1:1/mcp'], 'how long the run lasts is not given'],
  [
    ['--users', '5', '--for', '1s', '--slo', 'p99<3%', '--url', 'http://127.0.0.1:1/mcp'],
    'invalid objective "p99<3%" in --slo',
  ],
  [
    ['--users', '5', '--stages', '10:x', '--url', 'http://127.0.0.1:1/mcp'],
    'invalid stage "10:x" in --stages',
  ],
  [
    ['--users', '5', '--for', '1s', '--weight', 'other=2', '--url', 'http://127.0.0.1:1/mcp'],
    '--weight names other, which is not one of the tapes',
  ],
])('%j is refused with exit code 2', async (args, message) => {
  const { code, err } = await reelay('load', handleTape(), ...args)
  expect(err).toContain(message)
  expect(code).toBe(2)
})

test('a server that does not answer ends with exit code 3', async () => {
  const { code, err } = await reelay(
    'load',
    handleTape(),
    '--users',
    '1',
    '--for',
    '1s',
    '--url',
    'http://127.0.0.1:1/mcp',
  )
  expect(err).toContain('ECONNREFUSED')
  expect(code).toBe(3)
})

function sum(numbers: readonly number[]): number {
  return numbers.reduce((before, number) => before + number, 0)
}

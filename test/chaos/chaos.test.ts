import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { serveHttp } from '../../src/serve/http/serve-http.ts'
import { answerOf, call, callOf, HANDSHAKE, tapeOf } from '../support/tape-of.ts'
import {
  fixtureServer,
  linesOf,
  REELAY,
  start,
  temporaryFolder,
  until,
  type Running,
} from '../support/recorder.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { reelay } from '../replay/reelay.ts'

vi.setConfig({ testTimeout: 60_000 })

const CALLER = [process.execPath, 'test/fixtures/clients/tool-caller.mjs']
const SESSION = [...HANDSHAKE, ...call(1, 'first', {}, 'one'), ...call(2, 'second', {}, 'zwölf')]

function faultFile(folder: string, ...faults: readonly object[]): string {
  const path = join(folder, 'faults.json')
  writeFileSync(path, JSON.stringify({ faults }))
  return path
}

interface ChaosRun extends Running {
  readonly tape: string
}

/** A proxy in front of a server command. */
function chaos(server: readonly string[], faults: readonly object[], ...options: string[]): ChaosRun {
  const folder = temporaryFolder()
  const tape = join(folder, 'chaos.tape.jsonl')
  const file = faults.length === 0 ? [] : ['--faults', faultFile(folder, ...faults)]
  return {
    tape,
    ...start([process.execPath, REELAY, 'chaos', '-q', ...file, '-o', tape, ...options, '--', ...server]),
  }
}

const text = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })

/** Sends lines, closes the input, and returns what came back. */
async function answersTo(run: Running, lines: readonly string[]): Promise<string> {
  run.child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  await run.exited
  return run.stdout().toString()
}

test('without a fault that applies, the proxy passes the same bytes as no proxy, and marks nothing', async () => {
  const lines = [
    'not JSON',
    '{"jsonrpc": "2.0", "id":1.0,"method":"ping"}',
    text(callOf(2, 'first', { a: 'é' })),
    '',
  ]
  const server = fixtureServer('echo-bytes')
  const direct = await answersTo(start(server), lines)
  const run = chaos(server, [{ tool: 'other', timeout: true }])
  expect(await answersTo(run, lines)).toBe(direct)
  expect(linesOf(run.tape).filter(({ event }) => event === 'fault')).toEqual([])
})

test('a fault is marked on the tape, with what each side saw', async () => {
  const run = chaos(fixtureServer('answer-calls'), [{ tool: 'first', nth: 2, malformed: 'wrong-id' }])
  const out = await answersTo(run, [text(callOf(1, 'first', {})), text(callOf(2, 'first', {}))])
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  ).toEqual([1, 'reelay-wrong-id'])
  const marked = linesOf(run.tape).filter(({ side, event }) => side !== undefined || event === 'fault')
  expect(
    marked.map(({ event, kind, dir, side, modified }) => ({ event, kind, dir, side, modified })),
  ).toEqual([
    { dir: 'c2s', side: 'client' },
    { event: 'fault', kind: 'malformed' },
    { dir: 'c2s', side: 'server' },
    { dir: 's2c', side: 'server' },
    { dir: 's2c', side: 'client', modified: true },
  ])
})

test('a request is recognized if its method or tool is written with escapes', async () => {
  const run = chaos(fixtureServer('answer-calls'), [
    { tool: 'first', error: { code: 1, message: 'by its tool' } },
    { method: 'tools/list', error: { code: 2, message: 'by its method' } },
  ])
  const out = await answersTo(run, [
    text(callOf(1, 'first', {})).replace('"first"', String.raw`"\u0066irst"`),
    String.raw`{"jsonrpc":"2.0","id":2,"method":"tools\/list"}`,
    text(callOf(3, 'second', {})),
  ])
  const answers = out.trim().split('\n')
  expect(
    answers.map((line) => {
      const { id, error } = JSON.parse(line)
      return [id, error?.message]
    }),
  ).toEqual([
    [1, 'by its tool'],
    [2, 'by its method'],
    [3, undefined],
  ])
})

test('the same seed gives the same bytes, and another seed others', async () => {
  const faults = [
    { probability: 0.5, oneOf: [{ malformed: 'truncated' }, { duplicate: true }, { stray: true }] },
  ]
  const lines = Array.from({ length: 40 }, (_, id) => text(callOf(id + 1, 'first', {})))
  const outputs = await Promise.all(
    ['7', '7', '8'].map((seed) =>
      answersTo(chaos(fixtureServer('answer-calls'), faults, '--seed', seed), lines),
    ),
  )
  const sorted = outputs.map((out) => out.split('\n').toSorted().join('\n'))
  expect(sorted[0]).toBe(sorted[1])
  expect(sorted[0]).not.toBe(sorted[2])
})

test('an answer in pieces arrives whole, and nothing comes between its pieces', async () => {
  const run = chaos(fixtureServer('answer-calls'), [
    { tool: 'first', wire: { bytes: 3, pause: '2ms', jitter: '2ms' } },
  ])
  const out = await answersTo(run, [text(callOf(1, 'first', { a: 'zwölf' })), text(callOf(2, 'second', {}))])
  const ids = new Set(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  )
  expect(ids).toEqual(new Set([1, 2]))
})

test.each(['reset', 'half-close'])(
  'a %s leaves the client with half a response and an ended stream',
  async (form) => {
    const run = chaos(fixtureServer('answer-calls'), [{ tool: 'first', wire: form }])
    run.child.stdin.write(`${text(callOf(1, 'first', {}))}\n`)
    await new Promise((resolve) => run.child.stdout.once('end', resolve))
    expect(run.stdout().toString()).toMatch(/^\{"jsonrpc":"2.0","id":1[^\n]*[^}\n]$/)
  },
)

test('an elicitation of the server can be left unanswered', async () => {
  const run = chaos(fixtureServer('ask-then-answer'), [
    { method: 'elicitation/create', error: { code: -1, message: 'no' } },
  ])
  run.child.stdin.write(`${text(callOf(1, 'ask', {}))}\n`)
  await until(() => existsSync(run.tape))
  await until(() => linesOf(run.tape).some(({ event }) => event === 'fault'))
  expect(run.stdout().toString()).not.toContain('elicitation/create')
})

test('a fault that needs HTTP is refused over stdio, with a hint', async () => {
  const run = chaos(fixtureServer('answer-calls'), [{ http: 'unauthorized' }])
  const { code } = await run.exited
  expect({ code, err: run.stderr() }).toEqual({
    code: 2,
    err: expect.stringContaining('the fault "http" cannot be used here'),
  })
})

/** A proxy over HTTP in front of a served tape. Returns the response to the call of `first`. */
async function throughHttp(
  fault: object,
): Promise<{ response: Response | undefined; tape: string; body: string }> {
  await using served = await serveHttp({ tape: tapeOf(...SESSION) })
  const folder = temporaryFolder()
  const tape = join(folder, 'chaos.tape.jsonl')
  const file = faultFile(folder, { tool: 'first', ...fault })
  const run = start([process.execPath, REELAY, 'chaos', '--faults', file, '-o', tape, '--url', served.url])
  await until(() => /client: http:\S+/.test(run.stderr()))
  const url = /client: (http:\S+)/.exec(run.stderr())?.[1] ?? ''
  const post = (message: object, session?: string): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: text(message),
    })
  const [opening] = HANDSHAKE
  const opened = await post(JSON.parse(opening?.text ?? '{}'))
  const session = opened.headers.get('mcp-session-id') ?? ''
  const response = await post(callOf(1, 'first', {}), session).catch(() => undefined)
  const body = await (response?.text() ?? Promise.resolve('')).catch(() => 'broken')
  run.child.kill('SIGINT')
  await run.exited
  return { response, tape, body }
}

test.each([
  ['unauthorized', 401, 'www-authenticate'],
  ['token-expired', 401, 'www-authenticate'],
  ['forbidden', 403, 'content-length'],
  ['no-session', 404, 'content-length'],
  ['method-not-allowed', 405, 'allow'],
  ['not-acceptable', 406, 'content-length'],
  ['too-many-requests', 429, 'retry-after'],
  ['server-error', 500, 'content-length'],
  ['redirect', 307, 'location'],
])('over HTTP, %s ends the exchange with status %i and a header %s', async (http, status, header) => {
  const { response, tape } = await throughHttp({ http })
  expect(response?.status).toBe(status)
  expect(response?.headers.get(header)).not.toBeNull()
  expect(linesOf(tape).filter(({ event }) => event === 'fault')).toMatchObject([{ kind: 'http' }])
})

test('over HTTP, a response can have the wrong type, broken gzip or two session ids', async () => {
  const wrong = await throughHttp({ http: 'wrong-type' })
  expect([wrong.response?.headers.get('content-type'), JSON.parse(wrong.body)]).toEqual([
    'text/html',
    { jsonrpc: '2.0', ...answerOf(1, 'one') },
  ])
  expect((await throughHttp({ http: 'broken-gzip' })).body).toBe('broken')
  const twice = await throughHttp({ http: 'duplicate-session' })
  expect(twice.response?.headers.get('mcp-session-id')).toBe('reelay-session-1, reelay-session-2')
})

test('over HTTP, a message before the response makes it a stream', async () => {
  const { body } = await throughHttp({ storm: 2 })
  expect(body.match(/^data: /gm)).toHaveLength(3)
  expect(body).toContain('"text":"one"')
})

async function every(
  client: readonly string[],
  ...options: string[]
): Promise<{
  code: number | null
  cells: Record<string, string>
  err: string
  kept: readonly string[]
}> {
  const folder = temporaryFolder()
  const tape = tapeFile(...SESSION)
  const keep = join(folder, 'kept')
  const args = ['chaos', tape, '--every', '--json', '--keep', keep, ...options, '--', ...client]
  const { code, out, err } = await reelay(...args)
  const { cells = [] } = out === '' ? {} : JSON.parse(out)
  return {
    code,
    err,
    cells: Object.fromEntries(
      cells.map((cell: Record<string, unknown>) => [
        `${String(cell['fault'])} ${String(cell['call'])}`,
        cell['survival'],
      ]),
    ),
    kept: code === 1 ? readdirSync(keep).toSorted() : [],
  }
}

test.each(['{server}', '{url}'])(
  'every fault is tried at every call, and a careful client at %s survives',
  async (word) => {
    const { code, cells, kept } = await every([...CALLER, word], '--kinds', 'error,drop,storm')
    expect({ code, cells, kept }).toEqual({
      code: 0,
      cells: {
        'error: {"code":-32000,"message":"overloaded"} 1': 'degraded',
        'error: {"code":-32000,"message":"overloaded"} 2': 'degraded',
        'drop 1': 'degraded',
        'drop 2': 'degraded',
        'storm: 100 1': 'recovered',
        'storm: 100 2': 'recovered',
      },
      kept: [],
    })
  },
)

test('a careless client goes on with wrong data, hangs and crashes, and each failure leaves a tape', async () => {
  const careless = ['env', 'CARELESS=1', ...CALLER, '{server}']
  const { code, cells, kept } = await every(
    careless,
    '--kinds',
    'error,timeout,disconnect',
    '--timeout',
    '4s',
  )
  expect(code).toBe(1)
  expect(cells).toMatchObject({
    'error: {"code":-32000,"message":"overloaded"} 1': 'wrong',
    'timeout 2': 'hung',
    'disconnect 1': 'crashed',
  })
  expect(kept).toContain('timeout-second-1.tape.jsonl')
  expect(kept).toContain('disconnect-first-1.tape.jsonl')
})

test('a client that logs an exception and then ends in its own way has not crashed', async () => {
  const folder = temporaryFolder()
  const client = join(folder, 'client.mjs')
  const caller = join(process.cwd(), 'test/fixtures/clients/tool-caller.mjs')
  writeFileSync(
    client,
    `import { spawnSync } from 'node:child_process'
const run = spawnSync(process.execPath, [${JSON.stringify(caller)}, ...process.argv.slice(2)], { encoding: 'utf8' })
process.stdout.write(run.stdout)
if (run.status !== 0) console.error(new Error('logged').stack)
process.exitCode = run.status === 0 ? 0 : 4`,
  )
  const options = ['--every', '--kinds', 'disconnect', '--keep', join(folder, 'kept')]
  const { code, out } = await reelay(
    'chaos',
    tapeFile(...SESSION),
    ...options,
    '--',
    process.execPath,
    client,
    '{server}',
  )
  expect(out).not.toContain('crashed')
  expect(out).toContain('degraded')
  expect(code).toBe(0)
})

test('a client command that does not say where the server goes is refused', async () => {
  const { code, err } = await every(CALLER)
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('write {server} where') })
})

test('a client that fails without a fault is refused, and what it said is shown', async () => {
  const { code, err } = await every(
    [process.execPath, '--input-type=module', '-e', FAILING_CLIENT, '{url}'],
    '--kinds',
    'error',
  )
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringMatching(
      /without any fault, the client ends with exit code 3[^]*it said: no such tool/,
    ),
  })
})

const FAILING_CLIENT = `
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'first', arguments: {} } }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  await fetch(process.argv[1], { method: 'POST', headers, body: JSON.stringify(message) })
  console.error('no such tool')
  process.exitCode = 3`

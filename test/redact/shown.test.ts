import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect, test, vi } from 'vitest'
import { ended as run, runProgram, type Order } from '../auto/program.ts'
import { httpServer } from '../support/http.ts'
import { fixtureServer, REELAY, start, temporaryFolder, type Running } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

// Everything here is about a tape that was recorded with --no-redact: what it holds is shown nowhere.
const PASSWORD = 'hunter2-and-more'
const TOKEN = `ghp_${'aB3'.repeat(12)}`
const CUT = `${'-'.repeat(30)} ${TOKEN}` // reports cut values short, and this one within its token
const ANY_SECRET = /hunter2|ghp_aB3|correcthorse/
const home = join(sharedFolder(), 'home')
const tape = join(home, 'tapes', 'plain.tape.jsonl')
const server = fixtureServer('repeat', '--password', 'correcthorse')

const call = (id: number, args: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'log_in', arguments: args },
  })

function reelay(...args: readonly string[]): Running {
  return start([process.execPath, REELAY, ...args], { env: { ...process.env, REELAY_HOME: home } })
}

async function outputOf(...args: readonly string[]): Promise<string> {
  const running = reelay(...args)
  running.child.stdin.end()
  await running.exited
  return running.stdout().toString() + running.stderr()
}

beforeAll(async () => {
  const labels = ['--note', `it is ${TOKEN}`, '--tag', `password=${PASSWORD}`, '--session', `s ${TOKEN}`]
  const args = ['record', '-q', '--no-redact', ...labels, 'plain', '--', ...server]
  const env = { ...process.env, REELAY_HOME: home }
  const child = spawn(process.execPath, [REELAY, ...args], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.write(`${call(1, { password: PASSWORD, note: CUT })}\n${call(2, { secret: PASSWORD })}\n`)
  for await (const line of createInterface({ input: child.stdout }))
    if (line.includes('"id":2')) child.stdin.end()
})

test('the tape itself holds all of it', () => {
  const text = readFileSync(tape, 'utf8')
  expect(['hunter2', 'ghp_aB3', 'correcthorse'].filter((secret) => !text.includes(secret))).toEqual([])
})

test.each([
  ['list', ['list'], 'plain'],
  ['list --json', ['list', '--json'], 'plain'],
  ['inspect', ['inspect', 'plain'], 'log_in'],
  ['inspect -v', ['inspect', '-v', 'plain'], 'log_in'],
  ['inspect --json', ['inspect', '--json', 'plain'], 'log_in'],
  ['inspect --bindings', ['inspect', '--bindings', '--json', 'plain'], 'bindings'],
  ['tail', ['tail', 'plain'], 'log_in'],
  ['tail --json', ['tail', '--json', 'plain'], 'log_in'],
  ['stats', ['stats', 'plain'], 'log_in'],
  ['stats --json', ['stats', '--json', 'plain'], 'log_in'],
  ['redact', ['redact', 'plain'], 'secrets in'],
  ['redact --json', ['redact', '--json', 'plain'], 'secrets'],
  ['replay --dry-run', ['replay', '--dry-run', '--allow-writes', 'plain', '--', 'x'], 'log_in'],
  ['replay --dry-run --json', ['replay', '--dry-run', '--json', 'plain', '--', 'x'], 'log_in'],
])('%s shows nothing of it', async (_, args, sign) => {
  const output = await outputOf(...args)
  expect(output).toContain(sign)
  expect(output).not.toMatch(ANY_SECRET)
})

/** Answers something else than was recorded, and repeats in it what it was told. */
const OTHER = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params: { arguments: args } } = JSON.parse(line)
  const note = args.note === undefined ? 'new' : args.note + 'x'
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify({ ...args, note }) }], structuredContent: { ...args, note, password: 'hunter2-another' } } }))
})`

test('replay and verify show nothing of it where the live server differs, in text, JSON and files', async () => {
  const folder = temporaryFolder()
  const [report, results] = [join(folder, 'report.json'), join(folder, 'results.json')]
  const live = ['--', process.execPath, '-e', OTHER, '--', '--api-key', PASSWORD]
  const flags = ['--allow-writes', '--handshake', 'none', '--repeat', '1']
  const text = await outputOf('verify', 'plain', ...flags, '-o', report, '--results', results, ...live)
  const json = await outputOf('verify', 'plain', ...flags, '--json', ...live)
  expect(text).toMatch(/not as recorded/)
  expect(json).toContain('"verdict": "fail"')
  const written = [report, results].map((path) => readFileSync(path, 'utf8')).join('')
  expect(written).toContain('log_in')
  expect(text + json + written).not.toMatch(ANY_SECRET)
})

test('serve shows nothing of it in misses, notes and its account', async () => {
  const running = reelay('serve', 'plain')
  running.child.stdin.end(`${call(7, { password: `${PASSWORD}-2`, note: `${CUT}x` })}\n`)
  const answer = await running.line('"id":7')
  await running.exited
  expect(running.stderr()).toContain('not requested')
  expect(answer + running.stderr()).not.toMatch(ANY_SECRET)
})

const order = (args: readonly string[], calls: Order['calls']): Order => ({
  command: [process.execPath, ...args],
  calls,
})

/** A session of an SDK client, as --no-redact would have taped it. */
function sdkTape(path: string): void {
  const place = { server: 'other', conn: 1 }
  const said = (n: number, dir: string, msg: object): object => ({
    n,
    t: n,
    ...place,
    dir,
    msg: { jsonrpc: '2.0', ...msg },
  })
  const info = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
  const asked = { name: 'log_in', arguments: { password: PASSWORD, note: CUT } }
  const command = [process.execPath, 'other.mjs', '--password', 'correcthorse']
  const header = { reelay: 1, id: 'x', started: '2026-11-15T00:00:00.000Z', by: 'test', tags: {} }
  const lines = [
    { ...header, servers: { other: { transport: 'stdio', command, env: [] } } },
    said(1, 'c2s', { id: 0, method: 'initialize', params: info }),
    said(2, 's2c', { id: 0, result: info }),
    said(3, 'c2s', { method: 'notifications/initialized' }),
    said(4, 'c2s', { id: 1, method: 'tools/call', params: asked }),
    said(5, 's2c', { id: 1, result: { content: [] } }),
    { n: 6, t: 6, event: 'end', frames: 6 },
  ]
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
}

test('the account of a replayed run shows nothing of it, and neither does a server that is not on the tape', async () => {
  const path = join(temporaryFolder(), 'sdk.tape.jsonl')
  sdkTape(path)
  const env = { REELAY_HOME: home, REELAY_REPLAY: path }
  const flags = ['--password', 'correcthorse']
  const calls = [{ name: 'log_in', arguments: { password: `${PASSWORD}!`, note: CUT } }]
  const played = await runProgram('v1.mjs', { orders: [order(['other.mjs', ...flags], calls)], env })
  expect(played.stderr).toContain('not requested')
  expect(played.stderr + played.stdout).not.toMatch(ANY_SECRET)
  const unknown = await runProgram('v1.mjs', { orders: [order(['none.mjs', ...flags], calls)], env })
  expect(unknown.stderr).toContain('has no server for the command')
  expect(unknown.stderr).not.toMatch(ANY_SECRET)
  const refused = await runProgram('v1.mjs', { orders: [], env: { ...env, REELAY_REPLAY: TOKEN } })
  expect(refused.stderr).toContain('TAPE_NOT_FOUND')
  expect(refused.stderr).not.toMatch(ANY_SECRET)
})

test('an error that quotes the command line shows none of its secrets, also with REELAY_DEBUG', async () => {
  const env = { PATH: process.env['PATH'] ?? '', REELAY_DEBUG: '1' }
  const missing = ['record', '--', 'no-such-server', '--password', 'correcthorse']
  const started = await run([process.execPath, REELAY, ...missing], env)
  expect(started.stderr).toMatch(/COMMAND_NOT_FOUND[^]*spawnargs/)
  expect(started.stderr).not.toMatch(ANY_SECRET)
  const misused = ['record', 'server', '--tag', '--password', 'correcthorse', '--', 'x']
  const refused = await run([process.execPath, REELAY, ...misused], env)
  expect(refused.stderr).toContain('USAGE')
  expect(refused.stderr).not.toMatch(ANY_SECRET)
})

test('a bridge repeats no secret that the server says in a refusal', async () => {
  const { origin } = await httpServer((_req, res) => {
    res.writeHead(400, { 'Content-Type': 'application/json' })
    res.end(
      JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: `bad token ${TOKEN}` } }),
    )
  })
  const flags = ['-o', join(temporaryFolder(), 'b.tape.jsonl'), '--bridge', '--url', `${origin}/mcp`]
  const running = reelay('record', ...flags)
  running.child.stdin.end('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  await running.exited
  expect(running.stderr()).toContain('bad token')
  expect(running.stderr()).not.toMatch(ANY_SECRET)
})

test('rules beside a tape, notes of an import and what other machines could reach show no secret', async () => {
  const path = 'params.arguments.note'
  expect(await outputOf('match', 'add', 'plain', path, '--as', `regex:${TOKEN}`)).not.toMatch(ANY_SECRET)
  expect(await outputOf('match', 'list', 'plain')).not.toMatch(ANY_SECRET)
  expect(await outputOf('match', 'list', '--json', 'plain')).not.toMatch(ANY_SECRET)
  expect(await outputOf('match', 'remove', 'plain', path)).not.toMatch(ANY_SECRET)
  const foreign = join(temporaryFolder(), 'x.jsonl')
  writeFileSync(foreign, `${call(1, { password: PASSWORD })}\n${TOKEN}\n`)
  const imported = await outputOf(
    'import',
    foreign,
    '--format',
    'mcp',
    '-o',
    join(dirname(foreign), 'y.jsonl'),
  )
  expect(imported).not.toMatch(ANY_SECRET)
})

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { expect, test } from 'vitest'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { isAlive, REELAY, start, until } from '../support/recorder.ts'
import { ServeProcess } from './serve-process.ts'
import { tapeFile } from './tape-file.ts'
import { answerOf, call, callOf, HANDSHAKE, type Said } from '../support/tape-of.ts'

const SESSION: readonly Said[] = [...HANDSHAKE, ...call(1, 'echo', { q: 'old' }, 'recorded')]
const LIVE = ['--', process.execPath, 'test/fixtures/servers/ask-then-answer.mjs']
const OPENING = [
  { id: 'i', method: 'initialize', params: { protocolVersion: '2025-11-25' } },
  { method: 'notifications/initialized' },
]
const [OLD, NEW] = [callOf(1, 'echo', { q: 'old' }), callOf(2, 'echo', { q: 'new' })]

test('requests that are not on the tape are passed to the live server, marked for the client and loud in the account', async () => {
  const path = tapeFile(...SESSION)
  const before = readFileSync(path, 'utf8')
  const serve = serving([path, '--on-miss', 'passthrough', ...LIVE])
  serve.say(...OPENING, OLD, NEW)
  const { code, lines, stderr } = await serve.end()
  expect(lines.slice(1).map((line) => JSON.parse(line))).toEqual([
    { jsonrpc: '2.0', ...answerOf(1, 'recorded') },
    { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'echo' } },
    {
      jsonrpc: '2.0',
      id: 2,
      result: { content: [{ type: 'text', text: 'live {"q":"new"}' }], _meta: { 'reelay/live': true } },
    },
  ])
  expect(stderr.split('\n').slice(2)).toEqual([
    'reelay serve: warning: requests that are not on the tape are passed to the live server',
    'reelay serve: goes live: tools/call echo {"q":"new"}',
    'reelay serve: 2 requests answered, 0 misses, 0 left over, 1 WENT LIVE',
    'WENT LIVE, not on the tape: tools/call echo {"q":"new"}',
    '',
  ])
  expect(code).toBe(0)
  expect(readFileSync(path, 'utf8')).toBe(before)
})

test('what the live server asks reaches the client, and the answer the live server', async () => {
  const serve = serving([tapeFile(...SESSION), '--on-miss', 'passthrough', ...LIVE])
  serve.say(...OPENING, callOf('a', 'ask', {}))
  const [, question = ''] = await serve.heard(2)
  expect(JSON.parse(question)).toMatchObject({ method: 'elicitation/create', id: 'reelay-live-1' })
  serve.say({ id: 'reelay-live-1', result: { action: 'accept' } })
  const { lines } = await serve.end()
  expect(JSON.parse(lines[2] ?? '')).toMatchObject({ id: 'a', result: { content: [{ text: 'got accept' }] } })
})

test('a live server that dies, or never starts, leaves nobody waiting', async () => {
  const path = tapeFile(...SESSION)
  const [dying, missing] = [
    serving([path, '--on-miss', 'passthrough', ...LIVE]),
    serving([path, '--on-miss', 'passthrough', '--', 'no-such-command-anywhere']),
  ]
  for (const serve of [dying, missing]) serve.say(...OPENING, callOf(5, 'die', {}))
  const ends = [await dying.end(), await missing.end()]
  expect(ends.map(({ lines }) => JSON.parse(lines[1] ?? '').error.message)).toEqual([
    'the live server did not answer: the server ended with exit code 3',
    'the live server did not answer: the server command no-such-command-anywhere was not found',
  ])
})

test.skipIf(process.platform === 'win32')(
  'nobody is left when the client is killed, though the live server still owes it an answer',
  async () => {
    const say = [
      ...OPENING,
      { ...callOf(2, 'wait', {}), params: { name: 'wait', _meta: { progressToken: 1 } } },
    ]
    const input = say.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })).join('\n')
    const serve = [
      process.execPath,
      REELAY,
      'serve',
      tapeFile(...SESSION),
      '--on-miss',
      'passthrough',
      ...LIVE,
    ]
    const run = start([process.execPath, 'test/fixtures/clients/start-and-ask.mjs', input, ...serve], {
      env: { ...process.env, CI: '' },
    })
    const server = Number(/pid (\d+)/.exec(await run.line('pid'))?.[1])
    await until(() => run.stderr().includes('waits as'))
    run.child.kill('SIGKILL')
    await until(() => !isAlive(server))
    expect(isAlive(server)).toBe(false)
  },
)

test('a new episode joins the tape, which then answers without the live server', async () => {
  const path = tapeFile(...SESSION)
  const learning = serving([path, '--mode', 'new-episodes', ...LIVE])
  learning.say(...OPENING, OLD, NEW)
  expect((await learning.end()).stderr).toContain('the tape has a new episode of 6 messages')
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [], frames: 13 })
  expect(process.platform === 'win32' ? 0 : statSync(path).mode & 0o077).toBe(0)
  const replay = serving([path])
  replay.say(...OPENING, OLD, NEW)
  const { code, lines } = await replay.end()
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ jsonrpc: '2.0', ...answerOf(2, 'live {"q":"new"}') })
  expect(code).toBe(0)
})

test('what the live server prints beside the protocol reaches neither the client nor the tape', async () => {
  const path = tapeFile(...SESSION)
  const serve = serving([path, '--mode', 'new-episodes', ...LIVE])
  serve.say(...OPENING, OLD, callOf(3, 'noisy', {}))
  const { lines } = await serve.end()
  expect(lines.join()).not.toContain('a print on stdout')
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [], strays: [] })
})

test('a word too many starts nothing', async () => {
  const { code, stderr } = await serving([tapeFile(...SESSION), process.execPath]).end()
  expect(stderr).toContain('USAGE 2 tapes cannot be served on one stdin and stdout')
  expect(code).toBe(2)
})

test('once records the tape when there is none, and replays it from then on', async () => {
  const path = join(dirname(tapeFile()), 'fresh.tape.jsonl')
  const said: string[] = []
  for (const word of ['recorded', 'answered']) {
    const serve = serving([path, '--mode', 'once', ...LIVE])
    serve.say(...OPENING, NEW)
    await serve.heard(3)
    const { lines, code, stderr } = await serve.end()
    said.push(lines.at(-1) ?? '')
    expect(stderr).toContain(word)
    expect(code).toBe(0)
  }
  const answer = JSON.stringify({ jsonrpc: '2.0', ...answerOf(2, 'live {"q":"new"}') })
  expect(said).toEqual([answer, answer])
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [] })
})

test('all records anew, and replaces the tape by the new one', async () => {
  const path = tapeFile(...SESSION)
  const serve = serving([path, '--mode', 'all', ...LIVE])
  serve.say(...OPENING, OLD)
  await serve.heard(3)
  await serve.end()
  const { turns, ended } = await loadTape(path)
  expect(ended).toBe(true)
  expect(turns.map(({ response }) => response?.text).join()).toContain('live {\\"q\\":\\"old\\"}')
})

test('a server that says nothing costs no tape: neither the old one, nor an episode, nor a new empty one', async () => {
  const path = tapeFile(...SESSION)
  const before = readFileSync(path, 'utf8')
  const silent = ['--', process.execPath, '-e', '0']
  const anew = await serving([path, '--mode', 'all', ...silent]).end()
  expect(anew.stderr).toContain('the live server sent no response, so the tape is unchanged')
  const learning = serving([path, '--mode', 'new-episodes', ...silent])
  learning.say(...OPENING, OLD, NEW)
  expect((await learning.end()).stderr).not.toMatch(/^(?!.*config for a client).*episode/m)
  expect(readFileSync(path, 'utf8')).toBe(before)
  const fresh = join(dirname(path), 'fresh.tape.jsonl')
  const once = await serving([fresh, ...silent]).end()
  expect(once.stderr).toContain('the live server sent no response, so no tape was made')
  expect(readdirSync(dirname(path)).filter((name) => name.includes('fresh') || name.includes('new'))).toEqual(
    [],
  )
})

test('in CI nothing goes live by itself, and a mode that does is said aloud', async () => {
  const path = tapeFile(...SESSION)
  const quiet = serving([path, ...LIVE], { CI: 'true' })
  const loud = serving([path, '--mode', 'new-episodes', ...LIVE], { CI: 'true' })
  for (const serve of [quiet, loud]) serve.say(...OPENING, OLD, NEW)
  const ends = [await quiet.end(), await loud.end()]
  expect(ends.map(({ code }) => code)).toEqual([1, 0])
  expect(ends[0]?.stderr).toContain('REPLAY MISS')
  expect(ends[1]?.stderr).toContain('CI is set, and --mode new-episodes lets this run use the live server')
})

test('a program passes misses on to a transport of its own, and learns from it', async () => {
  const path = tapeFile(...SESSION)
  const sdk = new Client({ name: 'tester', version: '1' })
  const transport = replayTransport(await loadTape(path), { live, mode: 'new-episodes' })
  await sdk.connect(transport)
  const answers = [
    await sdk.callTool({ name: 'echo', arguments: { q: 'old' } }),
    await sdk.callTool({ name: 'echo', arguments: { q: 'new' } }),
  ]
  expect(answers).toMatchObject([
    { content: [{ text: 'recorded' }] },
    { content: [{ text: 'live {"q":"new"}' }], _meta: { 'reelay/live': true } },
  ])
  await sdk.close()
  expect(transport.drift().wentLive).toMatchObject([{ method: 'tools/call', params: { name: 'echo' } }])
  const learned = await loadTape(path)
  expect(learned.problems).toEqual([])
  expect(learned.turns.filter(({ trigger }) => trigger?.conn === 2).length).toBeGreaterThan(1)
})

function live(): StdioClientTransport {
  return new StdioClientTransport({ command: process.execPath, args: LIVE.slice(2) })
}

function serving(args: readonly string[], env: NodeJS.ProcessEnv = {}): ServeProcess {
  return new ServeProcess(args, [], { CI: '', ...env })
}

import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { describe, expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { linesOf, temporaryFolder } from '../support/recorder.ts'
import { AUTO, ended, runProgram, WEATHER, weatherIn, type Order } from './program.ts'

vi.setConfig({ testTimeout: 60_000 })

const SUM: Order = {
  command: referenceServer('server-everything'),
  calls: [{ name: 'get-sum', arguments: { a: 1, b: 2 } }],
}
const TICKET = /\(ticket [0-9a-f]{8}\)/

const tapeIn = (home: string, name = 'demo'): string => join(home, 'tapes', `${name}.tape.jsonl`)
const recording = (home: string): Record<string, string> => ({ REELAY_HOME: home, REELAY_RECORD: 'demo' })
const replaying = (home: string): Record<string, string> => ({ REELAY_HOME: home, REELAY_REPLAY: 'demo' })

describe.each(['v1.mjs', 'v1.cjs', 'v2.mjs', 'v2.cjs', 'v2-auto.mjs', 'ai-sdk-like.mjs'])(
  'the program %s',
  (program) => {
    test('is recorded and replayed without a line changed; its replay starts no process and opens no socket', async () => {
      const home = temporaryFolder()
      const orders = [weatherIn('Oslo', 'Oslo'), SUM]
      const live = await runProgram(program, { orders, env: recording(home) })
      expect(live).toMatchObject({ code: 0 })
      expect(live.stdout).toMatch(TICKET)
      expect(live.stderr).toContain(`reelay: recorded to ${tapeIn(home)}\n`)
      const tape = await loadTape(tapeIn(home))
      expect(tape).toMatchObject({ ended: true, problems: [], strays: [] })
      expect(Object.keys(tape.header.servers)).toEqual(['server', 'server-everything'])
      const played = await runProgram(program, { orders, env: replaying(home), sealed: true })
      expect(played).toMatchObject({ code: 0, stdout: live.stdout })
      expect(played.stderr).toMatch(/^reelay: \d+ requests answered from \S+\n$/)
    })
  },
)

test('bytes are on the tape as they crossed the pipes, with start, end of input and exit', async () => {
  const home = temporaryFolder()
  await runProgram('v1.mjs', { orders: [weatherIn('Oslo')], env: recording(home) })
  const kinds = linesOf(tapeIn(home)).map(
    ({ event, dir, msg }) => event ?? (msg === undefined ? 'header' : dir),
  )
  expect(kinds).toEqual(['header', 'start', 'c2s', 's2c', 'c2s', 'c2s', 's2c', 'eof', 'exit', 'end'])
})

test('the probe that SDK v2 starts first is a connection of its own', async () => {
  const home = temporaryFolder()
  await runProgram('v2-auto.mjs', { orders: [weatherIn('Oslo')], env: recording(home) })
  const { turns } = await loadTape(tapeIn(home))
  const asked = turns.flatMap(({ trigger }) =>
    trigger?.message.kind === 'request' ? [`${trigger.conn} ${trigger.message.method}`] : [],
  )
  expect(asked).toEqual(['1 server/discover', '2 initialize', '2 tools/call'])
})

test('child processes that are no servers are left alone, when recording and when replaying', async () => {
  const home = temporaryFolder()
  const run = { orders: [weatherIn('Oslo')], flags: ['--children'] }
  const live = await runProgram('v1.mjs', { ...run, env: recording(home) })
  const played = await runProgram('v1.mjs', { ...run, env: replaying(home) })
  expect(JSON.parse(live.stdout)).toHaveProperty('1', 'child\n')
  expect(played.stdout).toBe(live.stdout)
  expect(Object.keys((await loadTape(tapeIn(home))).header.servers)).toEqual(['server'])
})

test('a child process that a tool of an SDK server starts is left alone', async () => {
  const home = temporaryFolder()
  const orders: Order[] = [
    {
      command: [process.execPath, '--import', AUTO, resolve('test/fixtures/servers/start-children.mjs')],
      calls: [{ name: 'start', arguments: {} }],
      env: recording(home),
    },
  ]
  const { stdout } = await runProgram('v1.mjs', { orders, env: {} })
  expect(stdout).toContain('a child said hello')
  expect(existsSync(join(home, 'tapes'))).toBe(false)
})

test('a server does not inherit the switches: what is behind it is not recorded twice', async () => {
  const home = temporaryFolder()
  const env = { ...recording(home), NODE_OPTIONS: `--import=${AUTO}` }
  const proxy = [process.execPath, resolve('test/fixtures/servers/ask-behind.mjs'), ...WEATHER]
  const orders = [{ command: proxy, calls: [{ name: 'behind', arguments: {} }], env }]
  const { stdout } = await runProgram('v2.mjs', { orders, env: recording(home) })
  expect(stdout).toMatch(TICKET)
  expect(readdirSync(join(home, 'tapes'))).toEqual(['demo.tape.jsonl'])
})

test('a program that was bundled into one file is recorded and replayed all the same', async () => {
  const home = temporaryFolder()
  const file = join(home, 'bundle.mjs')
  const bundle = await rolldown({ input: resolve('test/fixtures/programs/v2.mjs'), platform: 'node' })
  await bundle.write({ file, codeSplitting: false })
  const command = [process.execPath, '--import', AUTO, file, JSON.stringify([weatherIn('Oslo')])]
  const live = await ended(command, recording(home))
  expect(live.stdout).toMatch(TICKET)
  expect((await ended(command, replaying(home))).stdout).toBe(live.stdout)
})

test('the filter leaves other servers live: unrecorded, and not replayed', async () => {
  const home = temporaryFolder()
  const orders = [weatherIn('Oslo'), SUM]
  const env = { ...recording(home), REELAY_RECORD_SERVER: 'ser*r' }
  const live = await runProgram('v1.mjs', { orders, env })
  expect(Object.keys((await loadTape(tapeIn(home))).header.servers)).toEqual(['server'])
  const filtered = { ...replaying(home), REELAY_REPLAY_SERVER: 'server' }
  expect((await runProgram('v1.mjs', { orders, env: filtered })).stdout).toBe(live.stdout)
  const unfiltered = await runProgram('v1.mjs', { orders, env: replaying(home), sealed: true })
  expect(unfiltered.code).toBe(1)
  expect(unfiltered.stderr).toContain('the tape demo has no server for the command')
})

test('two commands that give the same name are two servers, and each is played its own part', async () => {
  const home = temporaryFolder()
  const orders = [weatherIn('Oslo'), { ...weatherIn('Oslo'), command: [...WEATHER, '--other'] }]
  const live = await runProgram('v2.mjs', { orders, env: recording(home) })
  expect(Object.keys((await loadTape(tapeIn(home))).header.servers)).toEqual(['server', 'server-2'])
  const turned = { orders: orders.toReversed(), env: replaying(home), sealed: true }
  const played = await runProgram('v2.mjs', turned)
  expect(JSON.parse(played.stdout)).toEqual((JSON.parse(live.stdout) as unknown[]).toReversed())
})

test('a server that is started again is played what was recorded at its next start', async () => {
  const home = temporaryFolder()
  const orders = [weatherIn('Oslo'), weatherIn('Oslo')]
  const live = await runProgram('v1.mjs', { orders, env: recording(home) })
  const played = await runProgram('v1.mjs', { orders, env: replaying(home), sealed: true })
  expect(played.stdout).toBe(live.stdout)
  const oftener = [...orders, weatherIn('Oslo')]
  const tooOften = await runProgram('v1.mjs', { orders: oftener, env: replaying(home), sealed: true })
  expect(tooOften.code).toBe(1)
  expect(tooOften.stderr).toMatch(
    /the program started the server server again, but on .* it was started 2 times/,
  )
})

test('two programs of one run leave two tapes, and each finds its server among them', async () => {
  const home = temporaryFolder()
  const first = await runProgram('v1.mjs', { orders: [weatherIn('Oslo')], env: recording(home) })
  const second = await runProgram('v2.mjs', { orders: [SUM], env: recording(home) })
  expect(readdirSync(join(home, 'tapes'))).toEqual(['demo-2.tape.jsonl', 'demo.tape.jsonl'])
  const played = [
    await runProgram('v1.mjs', { orders: [weatherIn('Oslo')], env: replaying(home), sealed: true }),
    await runProgram('v2.mjs', { orders: [SUM], env: replaying(home), sealed: true }),
  ]
  expect(played.map(({ stdout }) => stdout)).toEqual([first.stdout, second.stdout])
})

test('what was not recorded is a miss: the program gets the error, stderr the report', async () => {
  const home = temporaryFolder()
  await runProgram('v1.mjs', { orders: [weatherIn('Oslo')], env: recording(home) })
  const { code, stdout, stderr } = await runProgram('v1.mjs', {
    orders: [weatherIn('Bergen')],
    env: replaying(home),
    sealed: true,
  })
  expect(code).toBe(0)
  expect(stdout).toContain('-39404')
  expect(stderr).toContain('REPLAY MISS')
  expect(stderr).toContain('reelay: server: 1 request answered, 1 miss, 1 left over')
})

test('a tape that cannot be written fails nothing, and is said at the end', async () => {
  const env = { REELAY_RECORD: '/dev/null/x.tape.jsonl' }
  const { code, stdout, stderr } = await runProgram('v2.mjs', { orders: [weatherIn('Oslo')], env })
  expect(code).toBe(0)
  expect(stdout).toMatch(TICKET)
  expect(stderr).toContain('reelay: TAPE_UNWRITABLE nothing was recorded: a part of the path is not a folder')
})

test.each([
  [{ REELAY_RECORD: 'a', REELAY_REPLAY: 'b' }, 2, 'USAGE REELAY_RECORD=a and REELAY_REPLAY=b are both set'],
  [{ REELAY_RECORD_SERVER: 'a' }, 2, 'USAGE REELAY_RECORD_SERVER is set, but REELAY_RECORD is not'],
  [{ REELAY_REPLAY_SERVER: 'a' }, 2, 'USAGE REELAY_REPLAY_SERVER is set, but REELAY_REPLAY is not'],
  [{ REELAY_RECORD: '.hidden' }, 2, 'NAME_INVALID ".hidden" cannot be the name of a tape'],
  [{ REELAY_REPLAY: 'nowhere' }, 3, 'TAPE_NOT_FOUND there is no tape nowhere'],
])('the switches %o are refused before the program runs', async (switches, exit, message) => {
  const env = { REELAY_HOME: temporaryFolder(), ...switches }
  const { code, stdout, stderr } = await runProgram('v1.mjs', { orders: [], env })
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
  expect(stderr).toContain(`reelay: ${message}`)
  expect(stderr).toContain('\n  hint: ')
})

test('without a switch nothing in the process is changed', async () => {
  const script = `
    import childProcess from 'node:child_process'
    console.log(childProcess.spawn.toString().includes('ChildProcess'), process.listenerCount('exit'))`
  const command = [process.execPath, '--import', AUTO, '--input-type=module', '-e', script]
  const plain = command.filter((word) => word !== '--import' && word !== AUTO)
  expect(await ended(command, { REELAY_RECORD: '' })).toEqual(await ended(plain, {}))
})

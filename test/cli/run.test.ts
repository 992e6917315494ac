import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { AUTO, ended, WEATHER, weatherIn, type Ended } from '../auto/program.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'

const NODE = process.execPath
const PROGRAM = [NODE, resolve('test/fixtures/programs/v1.cjs'), JSON.stringify([weatherIn('Oslo')])]

const run = (home: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  ended([NODE, REELAY, 'run', ...args], { REELAY_HOME: home, ...env })

const print = (code: string): readonly string[] => ['--', NODE, '-p', code]

test.skipIf(process.platform === 'win32')(
  'a command is recorded, then replayed, also through a shell; its output is its own',
  async () => {
    const home = temporaryFolder()
    const live = await run(home, ['--record', 'demo', '--', ...PROGRAM])
    expect(live).toMatchObject({ code: 0 })
    expect(live.stdout).toMatch(/^\[.*\(ticket [0-9a-f]{8}\).*\]\n$/)
    const played = await run(home, ['--replay', 'demo', '--', '/bin/sh', '-c', '"$0" "$@"', ...PROGRAM])
    expect(played).toMatchObject({ code: 0, stdout: live.stdout })
    expect(played.stderr).toMatch(/^reelay: \d+ requests? answered from demo\n$/)
    expect(readdirSync(join(home, 'tapes'))).toEqual(['demo.tape.jsonl'])
  },
)

test('the variables of mcporter record and replay, and a note says how they are read', async () => {
  const home = temporaryFolder()
  const live = await run(home, ['--', ...PROGRAM], { MCPORTER_RECORD: 'demo' })
  expect(live).toMatchObject({ code: 0 })
  expect(live.stderr).toContain('reelay: MCPORTER_RECORD=demo is read as --record demo\n')
  const played = await run(home, ['--', ...PROGRAM], { MCPORTER_REPLAY: 'demo' })
  expect(played).toMatchObject({ code: 0, stdout: live.stdout })
  expect(played.stderr).toContain('reelay: MCPORTER_REPLAY=demo is read as --replay demo\n')
  const alone = await ended([NODE, '--import', AUTO, ...PROGRAM.slice(1)], {
    REELAY_HOME: home,
    MCPORTER_REPLAY: 'demo',
  })
  expect(alone).toMatchObject({
    code: 0,
    stdout: live.stdout,
    stderr: expect.stringMatching(
      /^reelay: MCPORTER_REPLAY=demo is read as REELAY_REPLAY=demo\nreelay: \d+ requests answered from demo\n$/,
    ) as string,
  })
  const both = await run(home, ['--', ...PROGRAM], { MCPORTER_RECORD: 'a', MCPORTER_REPLAY: 'demo' })
  expect(both).toMatchObject({ code: 2 })
  const seen = print(`Object.keys(process.env).filter((name) => name.startsWith('MCPORTER')).length`)
  const env = { MCPORTER_REPLAY: 'demo' }
  expect(await run(home, seen, env)).toMatchObject({ stdout: '0\n' })
})

test('a recording of mcporter that is not imported yet is named with the command that imports it', async () => {
  const home = temporaryFolder()
  const folder = join(home, '.mcporter', 'recordings')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'demo.ndjson'), '')
  const env = { MCPORTER_REPLAY: 'demo', HOME: home, USERPROFILE: home }
  const { code, stderr } = await run(home, ['--', ...PROGRAM], env)
  expect(code).toBe(3)
  expect(stderr).toContain(
    `hint: there is a recording of mcporter: reelay import ${join(folder, 'demo.ndjson')}`,
  )
})

test('a program whose server cannot start is told why nothing was answered, and not how to replay it', async () => {
  const home = temporaryFolder()
  const order = { command: [NODE, '/nowhere/server.js'], calls: [] }
  const program = [NODE, resolve('test/fixtures/programs/v1.cjs'), JSON.stringify([order])]
  const { code, stderr } = await run(home, ['--record', 'broken', '--', ...program])
  expect(code).not.toBe(0)
  expect(stderr).toContain('the server ended with exit code 1 and answered nothing: ')
  expect(stderr).toContain('/nowhere/server.js\n  hint: `reelay inspect broken` shows what happened')
  expect(stderr).not.toContain('next, run it without the servers')
})

test('the filter of the command line reaches the program', async () => {
  const home = temporaryFolder()
  const { code, stderr } = await run(home, ['--record', 'demo', '--server', 'another', '--', ...PROGRAM])
  expect(code).toBe(1)
  expect(readdirSync(home)).toEqual([])
  expect(stderr).toMatch(/^reelay: nothing was recorded: .* a server that --server another selects$/m)
})

test('a recording of nothing fails, unless the command failed with a code of its own', async () => {
  const home = temporaryFolder()
  const idle = await run(home, ['--record', 'demo', ...print('1')])
  expect(idle).toMatchObject({ code: 1, stdout: '1\n' })
  expect(idle.stderr).toMatch(
    /^reelay: nothing was recorded: no Node program .*\n {2}hint: .*reelay record <name> --/,
  )
  expect(await run(home, ['--record', 'demo', '--', NODE, '-e', 'process.exit(7)'])).toMatchObject({
    code: 7,
  })
  const other = await run(home, ['--record', 'demo', '--', '/bin/sh', '-c', 'true'])
  expect(other.code).toBe(1)
  expect(other.stderr).toMatch(
    /over HTTP, it has to use the proxy .*\n {2}over stdio, it has to start the server by a name/,
  )
  expect(other.stderr).toContain('`reelay record <name> --url <url>`')
})

test('switches from outside give way, and options that Node was given stay', async () => {
  const home = temporaryFolder()
  const outside = { REELAY_REPLAY: 'x', REELAY_REPLAY_SERVER: 'y', NODE_OPTIONS: '--no-warnings' }
  const code = `JSON.stringify(Object.entries(process.env).filter(([name]) => /^(REELAY_RE|NODE_OPTIONS)/.test(name)).sort())`
  const { stdout } = await run(home, ['--record', 'demo', '--server', 's', ...print(code)], outside)
  expect(JSON.parse(stdout)).toEqual([
    ['NODE_OPTIONS', expect.stringMatching(/^--no-warnings --import=file:.*\/dist\/lib\/auto\.js$/)],
    ['REELAY_RECORD', join(home, 'tapes', 'demo.tape.jsonl')],
    ['REELAY_RECORD_SERVER', 's'],
  ])
})

test('a replay that plays nothing fails, and says why and what to do', async () => {
  const home = temporaryFolder()
  await run(home, ['--record', 'demo', '--', ...PROGRAM])
  const idle = await run(home, ['--replay', 'demo', ...print('1')])
  expect(idle).toMatchObject({ code: 1, stdout: '1\n' })
  expect(idle.stderr).toMatch(
    /^reelay: nothing was played from demo: no Node program .*\n {2}hint: .*reelay serve demo/,
  )
  const ignored = await run(home, ['--replay', 'demo', '--on-drift', 'ignore', ...print('1')])
  expect(ignored).toEqual({ code: 0, stdout: '1\n', stderr: '' })
})

test('a replay that drifts fails in CI and with --on-drift fail, and its fixes are for run', async () => {
  const home = temporaryFolder()
  await run(home, ['--record', 'demo', '--', ...PROGRAM])
  const other = [...PROGRAM.slice(0, 2), JSON.stringify([weatherIn('Bergen')]), '--catch']
  const noted = await run(home, ['--replay', 'demo', '--', ...other], { CI: '' })
  expect(noted.code).toBe(0)
  expect(noted.stderr).toContain('1 miss, 1 left over')
  expect(noted.stderr).toMatch(/record it again +reelay run --record \S+ --overwrite -- node /)
  expect(noted.stderr).not.toContain('reelay serve')
  expect((await run(home, ['--replay', 'demo', '--', ...other], { CI: 'true' })).code).toBe(1)
  const failed = await run(home, ['--replay', 'demo', '--on-drift', 'fail', '--', ...other], { CI: '' })
  expect(failed.code).toBe(1)
})

test('a connection of a client that is not recognised stays live, which is said and fails the replay', async () => {
  const home = temporaryFolder()
  await run(home, ['--record', 'demo', '--', ...PROGRAM])
  const client = `
    const child = require('node:child_process').spawn(${JSON.stringify(NODE)}, ${JSON.stringify(WEATHER.slice(1))}, { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }) + '\\n')`
  const live = await run(home, ['--replay', 'demo', '--', NODE, '-e', client])
  expect(live.code).toBe(1)
  expect(live.stderr).toMatch(/server\.mjs is live, not played: /)
})

test.skipIf(process.platform === 'win32')(
  'a program that is not Node is played the servers that it starts by the recorded command',
  async () => {
    const home = temporaryFolder()
    const tape = join(home, 'sh.tape.jsonl')
    const call = `'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Oslo"}}}\\n'`
    const [, script] = WEATHER
    const ask = (server: string): string[] => ['/bin/sh', '-c', `printf ${call} | ${server}`]
    const live = await ended(ask(`${NODE} ${REELAY} record -q -o ${tape} -- node ${script}`), {})
    expect(live.stdout).toContain('Oslo (ticket ')
    const played = await run(home, ['--replay', tape, '--', ...ask(`node ${script}`)])
    expect(played).toMatchObject({ code: 0, stdout: live.stdout })
    const other = await run(home, ['--replay', tape, '--', ...ask(`node ${script} --other`)])
    expect(other.code).toBe(1)
    expect(other.stderr).toContain('nothing was played from')
  },
)

test('a tape that exists is not recorded again unless --overwrite says so', async () => {
  const home = temporaryFolder()
  const first = await run(home, ['--record', 'demo', '--', ...PROGRAM])
  const refused = await run(home, ['--record', 'demo', '--', ...PROGRAM])
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(/demo\.tape\.jsonl exists\n {2}hint: to replace it, use --overwrite/)
  const second = await run(home, ['--record', 'demo', '--overwrite', '--', ...PROGRAM])
  expect(second.code).toBe(0)
  expect(readdirSync(join(home, 'tapes'))).toEqual(['demo.tape.jsonl'])
  const played = await run(home, ['--replay', 'demo', '--', ...PROGRAM])
  expect(played.stdout).toBe(second.stdout)
  expect(played.stdout).not.toBe(first.stdout)
})

test('the exit code is that of the command', async () => {
  const { code } = await run(temporaryFolder(), ['--record', 'demo', ...print('process.exit(7)')])
  expect(code).toBe(7)
})

test.skipIf(process.platform === 'win32')(
  'a signal reaches the command, and how that ends is how the run ends',
  async () => {
    const script = `process.on('SIGTERM', () => { console.log('told'); process.removeAllListeners('SIGTERM'); process.kill(process.pid, 'SIGTERM') }); setInterval(() => {}, 1000); console.log('ready')`
    const env = { ...process.env, REELAY_HOME: temporaryFolder() }
    const running = start([NODE, REELAY, 'run', '--record', 'demo', '--', NODE, '-e', script], { env })
    await running.line('ready')
    running.child.kill('SIGTERM')
    expect(await running.exited).toEqual({ code: null, signal: 'SIGTERM' })
    expect(running.stdout().toString()).toBe('ready\ntold\n')
  },
)

test('input reaches the command', async () => {
  const env = { ...process.env, REELAY_HOME: temporaryFolder() }
  const running = start([NODE, REELAY, 'run', '--record', 'demo', '--', NODE, '-e', ECHO], { env })
  running.child.stdin.end('hello')
  await running.exited
  expect(running.stdout().toString()).toBe('hello')
})

const ECHO = 'process.stdin.pipe(process.stdout)'

test.each([
  [['--', ...WEATHER], 2, 'USAGE neither --record <tape> nor --replay <tape> is given'],
  [['--record', 'a', '--replay', 'b', '--', NODE], 2, 'USAGE --record cannot be used together with --replay'],
  [['--record', 'a'], 2, "USAGE missing required argument 'command'"],
  [['--record', '../a b', '--', 'no-such-command'], 3, 'COMMAND_NOT_FOUND the command no-such-command was'],
  [['--record', 'a b', '--', NODE], 2, 'NAME_INVALID "a b" cannot be the name of a tape'],
  [['--replay', 'nowhere', '--', NODE], 3, 'TAPE_NOT_FOUND there is no tape nowhere'],
])('reelay run %j is refused', async (args, exit, message) => {
  const { code, stdout, stderr } = await run(temporaryFolder(), args)
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
  expect(stderr).toContain(`reelay: ${message}`)
})

test('reelay test run records once, keeps the tape only if the command succeeds, and then fails if the replay differs', async () => {
  const folder = temporaryFolder()
  const tape = join(folder, 'tests.tape.jsonl')
  const testRun = (program: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
    ended([NODE, REELAY, 'test', 'run', '--tape', tape, '--', ...program], {
      REELAY_HOME: folder,
      CI: '',
      ...env,
    })
  const failing = [NODE, '-e', `${spawnProgram()}process.exit(3)`, ...PROGRAM]
  expect(await testRun(failing)).toMatchObject({ code: 3 })
  expect(readdirSync(folder).filter((file) => file.includes('tape'))).toEqual([])
  expect(await testRun(PROGRAM, { CI: '1' })).toMatchObject({ code: 3 })
  const recorded = await testRun(PROGRAM)
  expect(recorded).toMatchObject({ code: 0 })
  expect(recorded.stderr).toContain(`reelay: the tests passed; the tape is ${tape}\n`)
  expect(await testRun(PROGRAM, { CI: '1' })).toMatchObject({ code: 0, stdout: recorded.stdout })
  const other = [NODE, resolve('test/fixtures/programs/v1.cjs'), JSON.stringify([weatherIn('Rome')])]
  expect(await testRun(other, { CI: '1' })).toMatchObject({ code: 1 })
  expect(await testRun([NODE, '-e', '1'], { CI: '1' })).toMatchObject({ code: 1 })
  expect(await testRun(failing, { REELAY_MODE: 'rewrite' })).toMatchObject({ code: 3 })
  expect(await testRun(PROGRAM, { CI: '1' })).toMatchObject({ code: 0, stdout: recorded.stdout })
  expect(readdirSync(folder).filter((file) => file.includes('tape'))).toEqual(['tests.tape.jsonl'])
})

test('reelay test run puts a named tape into the project, and says how to record it again', async () => {
  const folder = temporaryFolder()
  const testRun = (program: readonly string[], env: Record<string, string>): Promise<Ended> =>
    ended(
      [NODE, REELAY, 'test', 'run', '--tape', 'agent', '--', ...program],
      { REELAY_HOME: join(folder, 'home'), ...env },
      { cwd: folder },
    )
  expect(await testRun(PROGRAM, { CI: '' })).toMatchObject({ code: 0 })
  expect(readdirSync(join(folder, '__tapes__'))).toEqual(['agent.tape.jsonl'])
  const other = [NODE, resolve('test/fixtures/programs/v1.cjs'), JSON.stringify([weatherIn('Rome')])]
  const { code, stderr } = await testRun(other, { CI: '1' })
  expect(code).toBe(1)
  expect(stderr).toMatch(/record it again +reelay test run --mode rewrite --tape agent -- \S*node /)
  const idle = await testRun([NODE, '-e', '1'], { CI: '1' })
  expect(idle.stderr).toMatch(
    /\n {2}hint: record it again .*: reelay test run --mode rewrite --tape agent -- /,
  )
})

/** Runs the program of the arguments, as a test command that fails afterwards. */
function spawnProgram(): string {
  return "require('node:child_process').spawnSync(process.argv[1], process.argv.slice(2), { stdio: 'inherit' });"
}

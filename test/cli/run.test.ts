import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ended, WEATHER, weatherIn, type Ended } from '../auto/program.ts'
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
    expect(played).toEqual({ code: 0, stdout: live.stdout, stderr: '' })
    expect(readdirSync(join(home, 'tapes'))).toEqual(['demo.tape.jsonl'])
  },
)

test('the filter of the command line reaches the program', async () => {
  const home = temporaryFolder()
  const { code, stderr } = await run(home, ['--record', 'demo', '--server', 'another', '--', ...PROGRAM])
  expect(code).toBe(0)
  expect(readdirSync(home)).toEqual([])
  expect(stderr).toMatch(/^reelay: nothing was recorded: .* \(docs\/reference\/run\.md\)$/m)
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

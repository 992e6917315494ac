import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { fixtureServer, linesOf, record, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

test('arguments, working folder and environment reach the server unchanged', async () => {
  const cwd = temporaryFolder()
  const env = { ...process.env, REELAY_TEST_MARKER: 'märker' }
  const run = record(fixtureServer('tell-surroundings', '--flag', '-x', '', 'a b', '--', '-o', 'y'), {
    cwd,
    env,
  })
  await run.exited
  expect(JSON.parse(run.stdout().toString())).toMatchObject({
    argv: ['--flag', '-x', '', 'a b', '--', '-o', 'y'],
    cwd,
    marker: 'märker',
  })
})

test('flags of the server are kept even without --', async () => {
  const tape = join(temporaryFolder(), 'x.tape.jsonl')
  const server = fixtureServer('tell-surroundings', '-o', 'z', '--server', '--help')
  const run = start([process.execPath, REELAY, 'record', '-q', '-o', tape, ...server])
  await run.exited
  expect(JSON.parse(run.stdout().toString())).toMatchObject({ argv: ['-o', 'z', '--server', '--help'] })
})

test.each([['0'], ['3'], ['255']])('the exit code %s is passed on', async (code) => {
  const run = record(fixtureServer('end-with', code))
  expect(await run.exited).toEqual({ code: Number(code), signal: null })
  expect(linesOf(run.tape).at(-2)).toMatchObject({ event: 'exit', code: Number(code) })
})

test.each(['SIGKILL', 'SIGTERM', 'SIGABRT'])(
  'a server that dies of %s makes the recorder end the same way',
  async (signal) => {
    const run = record(fixtureServer('end-with', signal))
    expect(await run.exited).toEqual({ code: null, signal })
    expect(linesOf(run.tape).at(-2)).toMatchObject({ event: 'exit', signal })
  },
)

test.each(['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const)(
  '%s is passed on, and the session goes on',
  async (signal) => {
    const run = record(fixtureServer('name-signals'))
    await run.line('ready')
    run.child.kill(signal)
    expect(JSON.parse(await run.line('signal'))).toEqual({ signal })
    run.child.kill('SIGTERM')
    expect(await run.exited).toEqual({ code: 7, signal: null })
    const signals = linesOf(run.tape).filter(({ event }) => event === 'signal')
    expect(signals.map((frame) => frame['signal'])).toEqual([signal, 'SIGTERM'])
  },
)

test('a server that logs on stdout is told to log to stderr, with the first line', async () => {
  const log = `console.log('INFO starting'); console.log('{"jsonrpc":"2.0","method":"notifications/x"}'); console.log('INFO ready')`
  const run = record([process.execPath, '-e', log])
  await run.exited
  expect(run.stdout().toString()).toContain('INFO ready\n')
  expect(run.stderr()).toContain(
    'reelay: the server wrote 2 lines on stdout that are not JSON-RPC, which breaks some clients: let it log to stderr; the first: INFO starting\n',
  )
  const silent = record([process.execPath, '-e', log], { options: ['-q'] })
  await silent.exited
  expect(silent.stderr()).not.toContain('stdout')
})

test('stderr is forwarded and recorded, even a character that was split between chunks', async () => {
  const run = record(fixtureServer('complain'), { options: ['-q'] })
  setTimeout(() => run.child.stdin.end(), 500)
  await run.exited
  expect(run.stderr()).toBe('first line\nhalf é character\n')
  const taped = linesOf(run.tape).filter(({ stderr }) => stderr !== undefined)
  expect(taped.map(({ stderr }) => stderr).join('')).toBe('first line\nhalf é character\n')
})

test('everything that a server wrote to stderr before its exit arrives, however late it is read', async () => {
  const run = record(fixtureServer('complain-and-leave'), { options: ['-q'] })
  run.child.stderr.pause()
  await until(() => existsSync(run.tape) && linesOf(run.tape).some(({ stderr }) => stderr !== undefined))
  await new Promise((later) => setTimeout(later, 600)) // longer than the recorder waits for a silent stderr
  run.child.stderr.resume()
  await run.exited
  expect(run.stderr().length).toBe(300_000)
})

test('the header describes the server: command, name, tags, and the names of secret variables but not their values', async () => {
  const env = { PATH: process.env['PATH'], GITHUB_TOKEN: 'ghp_secret', HOME: '/nowhere' }
  const options = ['--server', 'gît', '--tag', 'run=7', '--tag', 'by=a=b']
  const run = record(fixtureServer('tell-surroundings'), { env, options })
  await run.exited
  const [header, startFrame] = linesOf(run.tape)
  expect(header).toMatchObject({
    reelay: 1,
    servers: {
      gît: { transport: 'stdio', command: fixtureServer('tell-surroundings'), env: ['GITHUB_TOKEN'] },
    },
    tags: { run: '7', by: 'a=b' },
  })
  expect(startFrame).toMatchObject({ n: 1, server: 'gît', conn: 1, event: 'start' })
  expect(readFileSync(run.tape, 'utf8')).not.toContain('ghp_secret')
})

test('only its owner can read a tape', async () => {
  const run = record(fixtureServer('tell-surroundings'))
  await run.exited
  expect(statSync(run.tape).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(run.tape)).mode & 0o777).toBe(0o700)
})

test('a name becomes a file in the home folder, and without a name the tape is named after the server', async () => {
  const home = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: home }
  const server = fixtureServer('tell-surroundings')
  await start([process.execPath, REELAY, 'record', 'my-tape', '--', ...server], { env }).exited
  await start([process.execPath, REELAY, 'record', '--', ...server], { env }).exited
  const tapes = readdirSync(join(home, 'tapes')).toSorted()
  expect(tapes).toEqual([
    'my-tape.tape.jsonl',
    expect.stringMatching(/^tell-surroundings-\d{8}-\d{6}\.tape\.jsonl$/),
  ])
})

test('the name of a server cannot change the folder of its tape', async () => {
  const home = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: home }
  const server = fixtureServer('tell-surroundings')
  await start([process.execPath, REELAY, 'record', '--server', '../../evil', '--', ...server], { env }).exited
  expect(readdirSync(join(home, 'tapes'))).toEqual([expect.stringMatching(/^evil-\d{8}-\d{6}\.tape\.jsonl$/)])
})

test('recorders that start at the same time with the same name and --numbered each create their own tape', async () => {
  const home = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: home }
  const runs = Array.from({ length: 4 }, () =>
    start(
      [process.execPath, REELAY, 'record', '--numbered', 'same', '--', ...fixtureServer('tell-surroundings')],
      {
        env,
      },
    ),
  )
  await Promise.all(runs.map(({ exited }) => exited))
  const tapes = readdirSync(join(home, 'tapes')).map((name) => join(home, 'tapes', name))
  expect(tapes.map((path) => path.slice(home.length)).toSorted()).toEqual([
    '/tapes/same-2.tape.jsonl',
    '/tapes/same-3.tape.jsonl',
    '/tapes/same-4.tape.jsonl',
    '/tapes/same.tape.jsonl',
  ])
  const pids = tapes.map((path) => linesOf(path).find(({ event }) => event === 'start')?.['pid'])
  expect(new Set(pids).size).toBe(4)
})

const idOf = (path: string): unknown => linesOf(path)[0]?.['id']

test('an existing tape is refused before the server starts, replaced by --overwrite, and kept by --numbered', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'mine.jsonl')
  const recordTo = async (...flags: string[]): Promise<readonly [code: number | null, stderr: string]> => {
    const command = ['record', '-o', file, ...flags, '--', ...fixtureServer('tell-surroundings')]
    const run = start([process.execPath, REELAY, ...command])
    const { code } = await run.exited
    return [code, run.stderr()]
  }
  await recordTo()
  const first = idOf(file)
  expect(await recordTo()).toEqual([
    2,
    expect.stringMatching(/^reelay: USAGE the tape .* exists\n {2}hint: .*--overwrite/),
  ])
  expect([idOf(file), readdirSync(folder)]).toEqual([first, ['mine.jsonl']])
  expect((await recordTo('--numbered'))[0]).toBe(0)
  expect(readdirSync(folder)).toEqual(['mine-2.jsonl', 'mine.jsonl'])
  expect((await recordTo('--overwrite'))[0]).toBe(0)
  expect(readdirSync(folder)).toEqual(['mine.jsonl'])
  expect(idOf(file)).not.toBe(first)
  writeFileSync(file, 'precious')
  expect(await recordTo('--overwrite')).toEqual([
    2,
    expect.stringContaining('is not a tape, so it is not overwritten'),
  ])
  expect(readFileSync(file, 'utf8')).toBe('precious')
})

test('options may follow the name of the tape', async () => {
  const home = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: home }
  const words = [
    'record',
    'sess',
    '--server',
    'x',
    '--note=a note',
    '-q',
    '--',
    ...fixtureServer('tell-surroundings'),
  ]
  const run = start([process.execPath, REELAY, ...words], { env })
  expect((await run.exited).code).toBe(0)
  const [header] = linesOf(join(home, 'tapes', 'sess.tape.jsonl'))
  expect(header).toMatchObject({ servers: { x: {} }, note: 'a note' })
})

test('a tape path that is a folder is a usage error, before the server starts', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['-o', temporaryFolder()] })
  expect((await run.exited).code).toBe(2)
  expect(run.stderr()).toMatch(/USAGE .* is a folder\n {2}hint: give the path of a file in it/)
})

test('the session continues if the folder cannot be written, which is reported twice', async () => {
  const file = join(temporaryFolder(), 'a-file')
  writeFileSync(file, '')
  const run = start([
    process.execPath,
    REELAY,
    'record',
    '-o',
    join(file, 'x.tape.jsonl'),
    '--',
    ...fixtureServer('answer-calls'),
  ])
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}\n')
  expect((await run.exited).code).toBe(0)
  expect(run.stdout().toString()).toBe('{"jsonrpc":"2.0","id":1,"result":{"params":[1]}}\n')
  expect(run.stderr()).toMatch(
    /^reelay: TAPE_UNWRITABLE not recording: .*; the session goes on without a tape\nreelay: TAPE_UNWRITABLE recorded nothing: /,
  )
})

test('the session continues if the disk is full; the tape keeps its complete lines and the loss is reported', async () => {
  const folder = temporaryFolder()
  const tape = join(folder, 'x.tape.jsonl')
  // The limit on file size answers like a full disk, and needs no rights.
  const script = `trap '' XFSZ; ulimit -f 64; exec "$@"`
  const command = [process.execPath, REELAY, 'record', '-o', tape, '--', ...fixtureServer('echo-bytes')]
  const run = start(['/bin/sh', '-c', script, 'sh', ...command])
  const lines = Array.from(
    { length: 40 },
    (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"${'x'.repeat(2000)}"}\n`,
  )
  for (const [id, line] of lines.entries()) {
    run.child.stdin.write(line)
    await run.line(`"id":${id},`)
  }
  run.child.stdin.end()
  expect((await run.exited).code).toBe(0)
  expect(run.stdout().toString()).toBe(lines.join(''))
  const [, lost] =
    /reelay: TAPE_UNWRITABLE incomplete: (\d+) frames are not on .*: file too large/.exec(run.stderr()) ?? []
  const text = readFileSync(tape, 'utf8')
  expect(text.endsWith('}\n')).toBe(true)
  expect(linesOf(tape).length).toBeGreaterThan(2)
  expect(linesOf(tape).at(-1)).toMatchObject({ event: 'end', lost: Number(lost) })
  expect((await loadTape(tape)).problems.map(({ why }) => why)).toEqual([expect.stringContaining(`${lost}`)])
})

test('a command that does not exist is one clear error, with exit code 3 and no tape', async () => {
  const run = record(['no-such-server-anywhere'])
  expect((await run.exited).code).toBe(3)
  expect(run.stderr()).toBe(
    'reelay: COMMAND_NOT_FOUND the server command no-such-server-anywhere was not found\n' +
      '  hint: check the spelling and the PATH; relative paths start at the folder you are in\n',
  )
  expect(readdirSync(dirname(dirname(run.tape)))).toEqual([])
})

test('a command that is not a program is one clear error, with exit code 3', async () => {
  const file = join(temporaryFolder(), 'not-a-program')
  writeFileSync(file, 'just text')
  chmodSync(file, 0o644)
  const run = record([file])
  expect((await run.exited).code).toBe(3)
  expect(run.stderr()).toMatch(
    /^reelay: COMMAND_NOT_RUNNABLE the server command .*not-a-program could not be started: .*EACCES/,
  )
})

test.each([
  [['record'], 'no server command to record'],
  [['record', '--'], 'no server command to record'],
  [['record', '--', ''], 'no server command to record'],
  [['record', '-o', '', '--', 'x'], 'invalid file "" for --output (expected the path of a file)'],
  [
    ['record', '-o', 'folder/', '--', 'x'],
    'invalid file "folder/" for --output (expected the path of a file)',
  ],
  [['record', '--nope', '--', 'x'], 'unknown option --nope'],
  [['record', '-o'], '--output needs a value: <file>'],
  [['record', '--tag', 'novalue', '--', 'x'], '--tag novalue is not of the form key=value'],
  [
    ['record', '--max-line', '0', '--', 'x'],
    'invalid number "0" for --max-line (expected a whole number from 1 to 500)',
  ],
  [
    ['record', '--max-size', 'big', '--', 'x'],
    'invalid number "big" for --max-size (expected a whole number from 1)',
  ],
  [
    ['record', '--rotate', '--', 'x'],
    '--rotate has no effect without --max-size or --max-messages or --idle',
  ],
  [['record', '-o', 'f', 'name', '--', 'x'], 'the tape has both a file, f, and a name, name'],
  [
    ['record', 'name', '-q', 'y', '--', 'x'],
    '"name -q y -- x" can be read in two ways: name as the name of the tape, or as the server command',
  ],
  [['record', '../x', '--', 'x'], '"../x" is a path, not the name of a tape'],
  [['record', 'a/b', '--url', 'http://127.0.0.1:1/mcp'], '"a/b" is a path, not the name of a tape'],
  [['record', '.hidden', '--', 'x'], /\.hidden/],
  [['nonsense'], "unknown command 'nonsense'"],
  [['serve'], 'no tape is given, and the project config lists none'],
  [['inspect', '--nope', 'x'], "unknown option '--nope'"],
])('misuse: %j ends with exit code 2, one error and a hint', (args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [REELAY, ...args], { encoding: 'utf8' })
  const [error = '', hint = '', ...more] = stderr.trimEnd().split('\n')
  expect(error).toMatch(message)
  expect(hint).toMatch(/^ {2}hint: /)
  expect({ status, stdout, more }).toEqual({ status: 2, stdout: '', more: [] })
})

import { execFile } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtureServer, REELAY, temporaryFolder } from '../support/recorder.ts'

const SERVER = fixtureServer('answer-calls')
const NO_SERVER = ['--', 'no-such-server']
const REQUEST = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"password":"Hunter2xyz"}}\n'
const isWindows = process.platform === 'win32'
const canChangeOwner = process.getuid?.() === 0

interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

type Run = (args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<Said>

/** Runs the program in a folder. Every run gets the same request and then the end of its input. */
function reelayIn(cwd: string, home: string): Run {
  const own = { PATH: process.env['PATH'], HOME: home, USERPROFILE: home, REELAY_HOME: join(home, 'reelay') }
  return (args, env = {}) =>
    new Promise((done) => {
      const options = { cwd, env: { ...own, ...env } }
      const child = execFile(process.execPath, [REELAY, ...args], options, (error, out, err) =>
        done({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
      )
      child.stdin?.on('error', () => {}) // the program may end before it reads
      child.stdin?.end(REQUEST)
    })
}

/** A repository with a folder in it, and a tape that contains a password. */
async function project(): Promise<{ root: string; inside: string; tape: string; home: string; run: Run }> {
  const folder = temporaryFolder()
  const [root, home] = [join(folder, 'project'), join(folder, 'home')]
  const inside = join(root, 'a', 'b')
  for (const each of [inside, join(root, '.git'), home]) mkdirSync(each, { recursive: true })
  const run = reelayIn(inside, home)
  const tape = join(folder, 'session.tape.jsonl')
  await run(['record', '-q', '--no-redact', '-o', tape, '--', ...SERVER])
  return { root, inside, tape, home, run }
}

/** Every command that reads a config. */
function commandsOn(tape: string): Readonly<Record<string, readonly string[]>> {
  const copy = (name: string): string => tape.replace('session', name)
  return {
    record: ['record', '-o', copy('recorded'), '--', ...SERVER],
    import: ['import', tape.replace('.tape.jsonl', '.log'), '-o', copy('imported')],
    serve: ['serve', tape],
    'serve with options': ['serve', '--pace', 'none', tape],
    redact: ['redact', tape],
    share: ['share', tape, '-o', copy('shared')],
    'verify --dry-run': ['verify', '--dry-run', tape],
    verify: ['verify', tape, ...NO_SERVER], // the config is read before the server is started
    run: ['run', '--record', copy('run'), '--', process.execPath, '-e', '0'],
  }
}

/** A config that leaves a file behind when it is run. */
function writeCodeConfig(folder: string, ran: string): string {
  const file = join(folder, 'reelay.config.cjs')
  writeFileSync(file, `require('node:fs').appendFileSync(${JSON.stringify(ran)}, 'x'); module.exports = {}\n`)
  return file
}

test('code in the config of a project is run only by commands that need it, and only if it is trusted', async () => {
  const { root, tape, home, run } = await project()
  writeFileSync(tape.replace('.tape.jsonl', '.log'), `${REQUEST}{"jsonrpc":"2.0","id":1,"result":{}}\n`)
  const ran = join(home, 'ran')
  const config = writeCodeConfig(root, ran)
  const runsOf = (): number => (existsSync(ran) ? readFileSync(ran, 'utf8').length : 0)
  const commands = commandsOn(tape)
  const before = await allOf(commands, run)
  expect(runsOf()).toBe(0)
  expect(before['record']?.err).toContain(
    `${config} is code, and you have not trusted it (read it, then run: reelay trust;`,
  )
  expect(before['record']?.code).toBe(0)
  expect(before['serve']?.err.split('\n')[0]).toBe(
    `reelay: not using ${config}: it is code, which this command never runs`,
  )
  for (const name of ['import', 'verify', 'run', 'redact', 'share'])
    expect({ name, ...before[name] }).toMatchObject({
      name,
      code: 3,
      err: expect.stringContaining('CONFIG_NOT_TRUSTED'),
    })

  expect((await run(['trust'])).out).toMatch(
    /^trusted until it changes: .*reelay\.config\.cjs \(sha256:[0-9a-f]{64}\)\n$/,
  )
  const readers = ['serve', 'serve with options', 'redact', 'share', 'verify --dry-run']
  await allOf(Object.fromEntries(readers.map((name) => [name, commands[name] ?? []])), run)
  expect(runsOf()).toBe(0)
  const recorded = await run(commands['record'] ?? [])
  expect(recorded.err.split('\n')[0]).toBe(`reelay: using the config ${config}`)
  expect(runsOf()).toBe(1)

  writeFileSync(config, `${readFileSync(config, 'utf8')}// changed\n`)
  expect((await run(commands['verify'] ?? [])).err).toContain('it has changed since you trusted it')
  expect(runsOf()).toBe(1)
  await run(commands['verify'] ?? [], { REELAY_TRUST: '1' })
  expect(runsOf()).toBe(2)
  await run(['verify', tape, '--config', config, ...NO_SERVER])
  expect(runsOf()).toBe(3)
  expect((await run(['trust', '--remove'])).code).toBe(0)
  expect((await run(['trust', '--list'])).out).toBe('')
})

async function allOf(
  commands: Readonly<Record<string, readonly string[]>>,
  run: Run,
): Promise<Readonly<Record<string, Said>>> {
  const said = Object.entries(commands).map(async ([name, args]) => [name, await run(args)] as const)
  return Object.fromEntries(await Promise.all(said))
}

test('the search for a config ends at the repository, and below a folder where others can write', async () => {
  const { root, tape, home, run } = await project()
  const outside = join(root, '..')
  writeCodeConfig(outside, join(home, 'ran'))
  expect((await run(['verify', tape, ...NO_SERVER], { REELAY_TRUST: '1' })).err).not.toContain(
    'reelay.config',
  )
  if (isWindows) return
  const shared = join(outside, 'shared')
  mkdirSync(join(shared, 'mine', 'sub'), { recursive: true })
  writeCodeConfig(shared, join(home, 'ran'))
  chmodSync(shared, 0o777)
  const there = reelayIn(join(shared, 'mine', 'sub'), home)
  expect((await there(['redact', tape], { REELAY_TRUST: '1' })).err).not.toContain('reelay.config')
  expect(existsSync(join(home, 'ran'))).toBe(false)
})

test.skipIf(isWindows)('a config that another user could have written is refused', async () => {
  const { root, inside, tape, home, run } = await project()
  const config = join(root, 'reelay.config.yaml')
  writeFileSync(config, 'redaction: { fields: [color] }\n')
  const refusal = async (env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const { code, err } = await run(['redact', tape], env)
    expect(code).toBe(3)
    return err
  }
  chmodSync(config, 0o666)
  expect(await refusal()).toContain(
    `CONFIG_NOT_TRUSTED the config ${config} is not used: ${config} can be written by`,
  )
  chmodSync(config, 0o644)
  chmodSync(root, 0o777)
  expect(await refusal({ REELAY_TRUST: '1' })).toContain(`${root} can be written by other users`)
  chmodSync(root, 0o755)
  expect((await run(['redact', tape])).err).toBe(`reelay: using the config ${config}\n`)
  if (!canChangeOwner) return
  chownSync(config, 65534, 65534)
  expect(await refusal()).toContain(`${config} belongs to another user (65534)`)
  const recorded = await run(['record', '-o', join(home, 'x.tape.jsonl'), '--', ...SERVER])
  expect(recorded).toMatchObject({ code: 0, err: expect.stringContaining('not recording: the config') })
  expect(recorded.out).toContain('"result"')
  chownSync(config, 0, 0)
  writeCodeConfig(inside, join(home, 'ran'))
  chownSync(inside, 65534, 65534)
  expect((await run(['trust'])).err).toContain('belongs to another user')
  expect((await run(['verify', tape, ...NO_SERVER], { REELAY_TRUST: '1' })).code).toBe(3)
  expect(existsSync(join(home, 'ran'))).toBe(false)
})

test('a text config is named in the first line of every command that uses it, and never on stdout', async () => {
  const { root, tape, run } = await project()
  writeFileSync(tape.replace('.tape.jsonl', '.log'), `${REQUEST}{"jsonrpc":"2.0","id":1,"result":{}}\n`)
  const config = join(root, 'reelay.config.yaml')
  writeFileSync(config, 'redaction: { fields: [color] }\n')
  const said = await allOf(commandsOn(tape), run)
  for (const [name, { out, err }] of Object.entries(said)) {
    expect([name, err.split('\n')[0]]).toEqual([name, `reelay: using the config ${config}`])
    expect(`${name}: ${out}`).not.toContain('reelay.config')
  }
  const quiet = await run(['record', '-q', '-o', tape.replace('session', 'quiet'), '--', ...SERVER])
  expect(quiet.err).toBe('')
  expect((await run(['redact', '--no-config', tape])).err).toBe('')
})

test('a config cannot make share or redact accept a secret', async () => {
  const { root, tape, run } = await project()
  const config = join(root, 'reelay.config.yaml')
  const copy = tape.replace('session', 'copy')
  writeFileSync(config, 'redaction: { allow: ["/.+/"] }\n')
  for (const args of [
    ['redact', tape],
    ['share', tape, '-o', copy],
  ])
    expect(await run(args)).toMatchObject({
      code: 3,
      err: expect.stringContaining('"redaction.allow[0]" matches secrets of most kinds'),
    })
  expect((await run(['redact', '--no-config', '--allow', '/.+/', tape])).code).toBe(2)

  writeFileSync(config, 'redaction: { allow: ["/^Hunter/"], off: [slack] }\n')
  const found = await run(['redact', tape])
  expect(found.code).toBe(1)
  expect(found.out).toContain(
    "  the project's config allows 1 of these values and turns off slack, which does not count here",
  )
  const shared = await run(['share', tape, '-o', copy])
  expect(shared).toMatchObject({ code: 0, out: expect.stringContaining('allows 1 of these values') })
  expect(readFileSync(copy, 'utf8')).not.toContain('Hunter2xyz')
  expect(await run(['redact', '--allow', 'Hunter2xyz', tape])).toMatchObject({ code: 0 })
})

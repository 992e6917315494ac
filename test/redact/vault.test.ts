import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { InMemoryTransport } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { recordForwardProxy } from '../../src/record/http/record-forward.ts'
import { recordTransport } from '../../src/record/in-process/record-transport.ts'
import { parseVault } from '../../src/store/vault.ts'
import { everythingIn } from '../support/everything-in.ts'
import { askThrough } from '../support/forward.ts'
import { ask, httpServer, post, startRecorder } from '../support/http.ts'
import { leaks, LOOKS, NAMED } from '../support/planted.ts'
import {
  fixtureServer,
  record,
  REELAY,
  start,
  temporaryFolder,
  until,
  type RecordedRun,
} from '../support/recorder.ts'
import { runProgram, weatherIn } from '../auto/program.ts'
import { costlyCases } from '../support/cases.ts'

vi.setConfig({ testTimeout: 60_000 })

const PASSWORD = 'hunter2 "and" more'
const PEM = `-----BEGIN PRIVATE KEY-----\n${'Ab0/'.repeat(16)}\n-----END PRIVATE KEY-----`
const IS_WINDOWS = process.platform === 'win32'
const login = (id: number, args: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'log_in', arguments: args },
  })
const vaultIn = (folder: string): string => join(folder, 'mine', 'vault.env')
const valuesOf = (vault: string): unknown => parseVault(readFileSync(vault, 'utf8'))

async function recordLogin(args: object, options: readonly string[], id = 1): Promise<RecordedRun> {
  const run = record(fixtureServer('repeat'), { options })
  run.child.stdin.write(`${login(id, args)}\n`)
  await run.line(`"id":${id}`)
  return run
}

async function ended(run: RecordedRun): Promise<RecordedRun> {
  run.child.stdin.end()
  await run.exited
  return run
}

test('a vault that was asked for holds the values behind the stand-ins, any other file does not, and it is said aloud', async () => {
  const vault = vaultIn(temporaryFolder())
  const args = { password: PASSWORD, note: PEM, pin: 4711 }
  const run = await ended(await recordLogin(args, ['-q', '--vault', vault]))
  expect(valuesOf(vault)).toEqual([PASSWORD, PEM, '4711'])
  expect(run.stderr()).toBe(
    `reelay: WARNING: --vault: the real values of secrets are written to ${vault}; keep it to yourself\n`,
  )
  const taped = readFileSync(run.tape, 'utf8')
  expect(
    [PASSWORD, JSON.stringify(PASSWORD).slice(1, -1), 'Ab0/Ab0/'].some((one) => taped.includes(one)),
  ).toBe(false)
  expect(readdirSync(dirname(vault))).toEqual(['vault.env'])
  expect(IS_WINDOWS || (statSync(vault).mode & 0o777) === 0o600).toBe(true)
})

test('whatever secrets cross the link, the vault holds all of them, and nothing else does', async () => {
  const some = fc.array(fc.oneof(LOOKS, NAMED), { minLength: 3, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(some, async (planted) => {
      const [folder, home] = [temporaryFolder(), temporaryFolder()]
      const vault = vaultIn(folder)
      const env = { ...process.env, REELAY_HOME: home }
      const run = record(fixtureServer('repeat'), { env, options: ['--vault', vault] })
      const args = { passwords: planted.map(({ value }) => ({ password: value, text: `so: ${value}` })) }
      run.child.stdin.write(`${login(1, args)}\n`)
      await run.line('"id":1')
      await ended(run)
      expect(leaks(everythingIn(dirname(run.tape), home) + run.stderr(), planted)).toEqual([])
      expect(valuesOf(vault)).toEqual(expect.arrayContaining(planted.map(({ value }) => value)))
    }),
    { ...costlyCases(5), endOnFailure: true },
  )
})

test('without being asked for, no vault is written', async () => {
  const run = await ended(await recordLogin({ password: PASSWORD }, []))
  expect(readdirSync(dirname(run.tape))).toEqual(['session.tape.jsonl'])
  expect(run.stderr()).not.toContain('vault')
})

test('verify and replay put back what a vault holds, also a number and a key of several lines', async () => {
  const vault = vaultIn(temporaryFolder())
  const args = { password: PASSWORD, note: `so: ${PEM}`, pin: 4711, count: 4711 }
  const { tape } = await ended(await recordLogin(args, ['--vault', vault]))
  const seen = join(temporaryFolder(), 'seen.jsonl')
  const server = [process.execPath, '-e', SPY, seen]
  const flags = ['--allow-writes', '--handshake', 'none', '--secrets', vault]
  const run = start([process.execPath, REELAY, 'replay', tape, ...flags, '--', ...server])
  const { code } = await run.exited
  expect(Object(JSON.parse(readFileSync(seen, 'utf8')))['params'].arguments).toEqual(args)
  expect(code).toBe(0)
  expect(run.stdout() + run.stderr()).not.toMatch(/hunter2|Ab0\/Ab0/)
})

/** Writes down what it is sent, and answers as the fixture `repeat` does. */
const SPY = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  require('fs').writeFileSync(process.argv[1], line)
  const { id, params: { arguments: args } } = JSON.parse(line)
  const result = { content: [{ type: 'text', text: JSON.stringify(args) }], structuredContent: args }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`

test('recorders that run at once share a vault, and none loses what another wrote', async () => {
  const vault = vaultIn(temporaryFolder())
  const words = Array.from({ length: 5 }, (_, at) => `hunter2-number-${at}`)
  const runs = await Promise.all(
    words.map((password, id) =>
      recordLogin({ password, shared: 'x', secret: PASSWORD }, ['--vault', vault], id),
    ),
  )
  await Promise.all(runs.map(ended))
  const values = valuesOf(vault) as readonly string[]
  expect(new Set(values)).toEqual(new Set([...words, PASSWORD]))
  await ended(await recordLogin({ password: words[0] }, ['--vault', vault]))
  expect(valuesOf(vault)).toEqual(values)
})

test('a recorder that is killed leaves in the vault what it had replaced', async () => {
  const vault = vaultIn(temporaryFolder())
  const run = await recordLogin({ password: PASSWORD }, ['--vault', vault])
  await until(() => readFileSync(vault, 'utf8').includes('hunter2'))
  run.child.kill('SIGKILL')
  await run.exited
  expect(valuesOf(vault)).toEqual([PASSWORD])
})

test('a value of the environment has the name of its variable in the vault', async () => {
  const vault = vaultIn(temporaryFolder())
  const env = { ...process.env, SERVICE_PASSWORD: 'from-the-environment-1' }
  const run = record(fixtureServer('repeat'), { env, options: ['--vault', vault] })
  run.child.stdin.write(`${login(1, { text: 'it is from-the-environment-1' })}\n`)
  await run.line('"id":1')
  await ended(run)
  expect(readFileSync(vault, 'utf8')).toMatch(/\nSERVICE_PASSWORD=from-the-environment-1\n$/)
  expect(run.stderr()).toContain(`1 value added to the vault ${vault}\n`)
})

test('values of --url, --bridge, --forward and in-process recordings go to the vault, and to no tape', async () => {
  const { origin } = await httpServer(async (req, res) => {
    for await (const _ of req);
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { access_token: 'from-the-server-1' } }))
  })
  const [folder, message] = [temporaryFolder(), login(1, { password: PASSWORD })]
  const vaults = ['url', 'bridge', 'forward', 'memory'].map((name) => join(folder, 'mine', name))
  const [byUrl = '', byBridge = '', byForward = '', inMemory = ''] = vaults
  const proxy = await startRecorder(`${origin}/mcp`, '--vault', byUrl)
  await ask(proxy.url, post(message))
  proxy.child.kill('SIGTERM')
  await proxy.exited
  const tapes = ['bridge', 'forward', 'memory'].map((name) => join(folder, `${name}.tape.jsonl`))
  const [bridged = '', forwarded = '', remembered = ''] = tapes
  const flags = ['--bridge', '--url', `${origin}/mcp`, '--vault', byBridge]
  const bridge = start([process.execPath, REELAY, 'record', '-o', bridged, ...flags])
  bridge.child.stdin.write(`${message}\n`)
  await bridge.line('"id":1')
  bridge.child.stdin.end()
  await bridge.exited
  const forward = await recordForwardProxy({
    listen: { host: '127.0.0.1', port: 0 },
    tape: forwarded,
    server: undefined,
    maxMessageBytes: 1024,
    redact: { vault: byForward },
    onNotice: () => {},
  })
  await askThrough(forward.proxy, `${origin}/mcp`, post(message, { Host: new URL(origin).host }))
  expect(await forward.close()).toMatchObject({ vault: { path: byForward, added: 2, trouble: undefined } })
  const [client, server] = InMemoryTransport.createLinkedPair()
  const transport = recordTransport(client, { tape: remembered, server: 's', redact: { vault: inMemory } })
  await transport.start()
  await transport.send({
    ...Object(JSON.parse(message)),
    params: { password: PASSWORD, secret: 'from-the-server-1' },
  })
  await transport.close()
  await server.close()
  for (const vault of vaults) expect(valuesOf(vault)).toEqual([PASSWORD, 'from-the-server-1'])
  for (const tape of [proxy.tape, ...tapes])
    expect(readFileSync(tape, 'utf8')).not.toMatch(/hunter2|from-the-server/)
})

test('a copy of a plain tape has its vault too, and so have an import and the run of a program', async () => {
  const folder = temporaryFolder()
  const [redacted, shared, imported, ran] = ['redacted', 'shared', 'imported', 'ran'].map((name) =>
    join(folder, 'mine', name),
  ) as [string, string, string, string]
  const { tape } = await ended(await recordLogin({ password: PASSWORD }, ['--no-redact']))
  expect(await reelay('redact', tape, '-o', join(folder, 'a.tape.jsonl'), '--vault', redacted)).toBe(
    `reelay: WARNING: --vault: the real values of secrets are written to ${redacted}; keep it to yourself\n` +
      `reelay: 1 value added to the vault ${redacted}\n`,
  )
  await reelay('share', tape, '-o', join(folder, 'b.tape.jsonl'), '--vault', shared)
  const foreign = join(folder, 'foreign.jsonl')
  writeFileSync(foreign, `${login(1, { password: PASSWORD })}\n{"jsonrpc":"2.0","id":1,"result":{}}\n`)
  const tapeOut = join(folder, 'c.tape.jsonl')
  await reelay('import', foreign, '--format', 'mcp', '-o', tapeOut, '--vault', imported)
  for (const vault of [redacted, shared, imported]) expect(valuesOf(vault)).toEqual([PASSWORD])
  const env = {
    REELAY_HOME: folder,
    REELAY_RECORD: 'run',
    REELAY_RECORD_VAULT: ran,
    CITY_TOKEN: 'Longyearbyen',
  }
  expect(await runProgram('v1.mjs', { orders: [weatherIn('Longyearbyen')], env })).toMatchObject({ code: 0 })
  expect(valuesOf(ran)).toEqual(['Longyearbyen'])
})

async function reelay(...args: readonly string[]): Promise<string> {
  const run = start([process.execPath, REELAY, ...args])
  expect((await run.exited).code).toBe(0)
  expect(run.stdout() + run.stderr()).not.toContain('hunter2')
  return run.stderr()
}

test.each([
  ['named like a tape', (folder: string) => join(folder, 'x.jsonl'), 'it has the name of a tape'],
  ['a folder', (folder: string) => folder, 'it is a folder'],
  [
    'a file that others can read',
    (folder: string) => made(join(folder, 'v'), (path) => writeFileSync(path, '', { mode: 0o644 })),
    'other users can read it; run chmod 600 on it',
  ],
  [
    'a link',
    (folder: string) => made(join(folder, 'v'), (path) => symlinkSync('/tmp/elsewhere', path)),
    'it is a link or not a regular file',
  ],
  [
    'in a folder that others can write to',
    (folder: string) => join(made(join(folder, 'open'), openFolder(0o777)), 'v'),
    'other users can write to its folder',
  ],
])('a vault that is %s is refused before the server is started', async (_, place, why) => {
  if (IS_WINDOWS) return
  const folder = temporaryFolder()
  const vault = place(folder)
  const started = join(folder, 'started')
  const server = [process.execPath, '-e', `require('fs').writeFileSync(process.argv[1], '')`, started]
  const run = record(server, { options: ['--vault', vault] })
  expect(await run.exited).toEqual({ code: 2, signal: null })
  expect(run.stderr()).toContain(`VAULT_REFUSED the vault ${vault} cannot be used: ${why}`)
  expect(existsSync(started)).toBe(false)
})

function made(path: string, make: (path: string) => void): string {
  make(path)
  return path
}

function openFolder(mode: number): (path: string) => void {
  return (path) => {
    mkdirSync(path)
    chmodSync(path, mode)
  }
}

test('a vault may be in the folder of the tape only if nobody else can open it', async () => {
  if (IS_WINDOWS) return
  for (const [mode, code] of [
    [0o755, 2],
    [0o700, 0],
  ] as const) {
    const folder = made(join(temporaryFolder(), 'tapes'), openFolder(mode))
    const flags = ['record', '-o', join(folder, 'a.tape.jsonl'), '--vault', join(folder, 'vault.env'), '--']
    const run = start([process.execPath, REELAY, ...flags, ...fixtureServer('repeat')])
    run.child.stdin.end()
    expect((await run.exited).code).toBe(code)
    expect(
      run.stderr().includes('it is in the folder of the tape, and other users can open that folder'),
    ).toBe(code === 2)
  }
})

test('--vault makes no sense with --no-redact, nor for a scan', async () => {
  const run = record(fixtureServer('repeat'), { options: ['--no-redact', '--vault', 'v'] })
  expect((await run.exited).code).toBe(2)
  expect(run.stderr()).toContain('--no-redact cannot be used together with --vault')
  const scan = start([process.execPath, REELAY, 'redact', 'x.jsonl', '--vault', 'v'])
  expect((await scan.exited).code).toBe(2)
  expect(scan.stderr()).toContain('--vault has no effect without --output')
})

test('a vault that git would take is warned of, and one that git ignores is not', async () => {
  const folder = temporaryFolder()
  execFileSync('git', ['init', '--quiet', folder])
  const vault = vaultIn(folder)
  const warning = `WARNING: ${vault} is in a git work tree that does not ignore it`
  const first = await ended(await recordLogin({ password: PASSWORD }, ['--vault', vault]))
  expect(first.stderr()).toContain(warning)
  writeFileSync(join(folder, '.gitignore'), 'mine/\n')
  const second = await ended(await recordLogin({ password: PASSWORD }, ['--vault', vault]))
  expect(second.stderr()).not.toContain(warning)
})

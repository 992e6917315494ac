import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { linesOf, REELAY, start, temporaryFolder, until, type Running } from '../support/recorder.ts'

const NODE = process.execPath

test('the client command gets our stdin, and its exit code is ours', async () => {
  const script = 'process.stdin.on("data",d=>process.stdout.write(d)).on("end",()=>process.exit(9))'
  const { run, tape } = forward(['--', NODE, '-e', script])
  run.child.stdin.end('one\ntwo\n')
  expect(await run.exited).toEqual({ code: 9, signal: null })
  expect(run.stdout().toString()).toBe('one\ntwo\n')
  expect(linesOf(tape).at(-1)).toMatchObject({ event: 'end' })
})

test.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a client command that %s ends gets it from us, and we end the same way',
  async (signal) => {
    const { run, tape } = forward(['--', NODE, '-e', 'console.log("ready");setInterval(()=>{},1000)'])
    await run.line('ready')
    run.child.kill(signal)
    expect(await run.exited).toEqual({ code: null, signal })
    expect(linesOf(tape).at(-1)).toMatchObject({ event: 'end' })
  },
)

test('a client command that ignores the proxy is reported with alternatives, and one that uses it is not', async () => {
  const past = forward(['-q', '--', NODE, '-e', '']).run
  expect((await past.exited).code).toBe(0)
  expect(past.stderr()).toMatch(
    /^reelay: nothing went through this proxy: .*reelay run --record .*recordFetch.*--url/,
  )
  const asking = `const { port, username, password } = new URL(process.env.HTTP_PROXY)
    require("http").get({ port, path: "http://127.0.0.1:1/mcp", agent: false, headers: {
      "Proxy-Authorization": "Basic " + btoa(username + ":" + password) } }, (res) => res.resume())`
  const through = forward(['-q', '--', NODE, '-e', asking]).run
  expect((await through.exited).code).toBe(0)
  expect(through.stderr()).toBe('')
})

test('the client command gets the variables for the proxy, also for this machine', async () => {
  const script = 'console.log(JSON.stringify(process.env))'
  const { run } = forward(['--', NODE, '-e', script], {
    NO_PROXY: 'localhost,intra.test',
    SSL_CERT_FILE: '/x',
  })
  await run.exited
  const env = JSON.parse(run.stdout().toString()) as Record<string, string>
  expect(env['HTTP_PROXY']).toMatch(/^http:\/\/reelay:[\w-]{32}@127\.0\.0\.1:\d+$/)
  for (const name of ['HTTPS_PROXY', 'http_proxy', 'https_proxy']) expect(env[name]).toBe(env['HTTP_PROXY'])
  expect(env).toMatchObject({ NODE_USE_ENV_PROXY: '1', NO_PROXY: 'intra.test', SSL_CERT_FILE: '/x' })
  expect(env).not.toHaveProperty('NODE_EXTRA_CA_CERTS')
})

test('with a CA, the client command trusts it in addition to what it trusted before', async () => {
  const home = temporaryFolder()
  const mine = join(home, 'mine.pem')
  writeFileSync(mine, 'MINE\n')
  execFileSync(NODE, [REELAY, 'ca', 'create'], { env: { ...process.env, REELAY_HOME: home } })
  const script = 'console.log(JSON.stringify(process.env))'
  const env = { REELAY_HOME: home, NODE_EXTRA_CA_CERTS: mine, SSL_CERT_FILE: undefined }
  const { run } = forward(['--', NODE, '-e', script], env)
  await run.exited
  const given = JSON.parse(run.stdout().toString()) as Record<string, string>
  const ours = readFileSync(join(home, 'ca', 'reelay-ca.pem'), 'utf8')
  expect(readFileSync(given['NODE_EXTRA_CA_CERTS'] ?? '', 'utf8')).toBe(`${ours}MINE\n`)
  const all = readFileSync(given['SSL_CERT_FILE'] ?? '', 'utf8')
  expect(all.startsWith(`${ours}MINE\n`)).toBe(true)
  expect(all).toContain(rootCertificates.at(-1))
})

test('a client command that does not exist is named in the error', async () => {
  const { run } = forward(['--', 'no-such-client'])
  expect(await run.exited).toEqual({ code: 3, signal: null })
  expect(run.stderr()).toContain('COMMAND_NOT_FOUND the command no-such-client was not found')
})

test.skipIf(process.platform === 'win32')(
  'without a command it says what to set, and waits for Ctrl-C',
  async () => {
    const { run, tape } = forward(['--quiet'])
    await until(() => run.stderr().includes('NODE_USE_ENV_PROXY=1'))
    expect(run.stderr()).toMatch(/^reelay: {3}HTTPS_PROXY=http:\/\/reelay:[\w-]{32}@127\.0\.0\.1:\d+$/m)
    run.child.kill('SIGINT')
    expect((await run.exited).code).toBe(130)
    expect(linesOf(tape).at(-1)).toMatchObject({ event: 'end' })
  },
)

test.each([
  [['--url', 'http://127.0.0.1/'], 'USAGE --url cannot be used together with --forward'],
  [['--listen', '0.0.0.0:0'], 'USAGE --forward cannot listen on 0.0.0.0'],
  [['--'], 'USAGE there is no client command after --'],
  [['extra', 'words'], 'USAGE there is no client command after --'],
])('%j beside --forward is refused', async (options, message) => {
  const { run } = forward(options)
  expect((await run.exited).code).toBe(2)
  expect(run.stderr()).toContain(message)
})

function forward(rest: readonly string[], env: NodeJS.ProcessEnv = {}): { run: Running; tape: string } {
  const folder = temporaryFolder()
  const tape = join(folder, 'x.tape.jsonl')
  const clean = { ...process.env, NODE_EXTRA_CA_CERTS: undefined, REELAY_HOME: folder, ...env }
  const run = start([NODE, REELAY, 'record', '--forward', '-o', tape, ...rest], { env: clean })
  return { run, tape }
}

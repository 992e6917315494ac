import { COMMANDS } from '../../src/cli/program.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'

let home: string
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'reelay-readme-'))))
afterEach(() => rmSync(home, { recursive: true }))

// A POSIX shell is what the blocks are written for.

test.skipIf(process.platform === 'win32')(
  'the quick start of a server author works as it is pasted',
  async () => {
    const { stdout, stderr } = await run('sh', [], quickStart('I write a server'))
    expect(stdout).toMatch(/°C in Oslo \(ticket [0-9a-f]{8}\)/)
    expect(stdout).toMatch(/^verdict: as recorded$/m)
    expect(stdout).toMatch(/^weather city=<string>$/m)
    expect(stderr).toContain('reelay: the tape of this run is')
    expect(readdirSync(join(home, 'tapes'))).toEqual(['smoke.noise.yaml', 'smoke.tape.jsonl'])
  },
)

test.skipIf(process.platform === 'win32')(
  'the quick start of an agent author works as it is pasted',
  async () => {
    const { stdout, stderr } = await run('sh', [], quickStart('I write an agent or a client'))
    const messages = stdout.split('\n').filter((line) => line.startsWith('{'))
    const [handshake, answer, playedHandshake, playedAnswer, again, miss] = messages
    expect(messages).toHaveLength(6)
    expect([playedHandshake, playedAnswer]).toEqual([handshake, answer])
    expect(again).toBe(handshake)
    expect(miss).toMatch(/^\{"jsonrpc":"2.0","id":2,"error":\{.*"kind":"replay_miss"/)
    expect(stderr).toContain('recorded "Oslo"   got "Bergen"')
  },
)

test.skipIf(process.platform === 'win32')(
  'the quick start for a remote server works as it is pasted',
  async () => {
    // Another port, which is surely free, and a wait that also suffices on a busy machine.
    const port = String(await freePort())
    const pasted = quickStart('A remote server fails').replaceAll('8931', port)
    const isListening = `require('node:net').connect(${port}, '127.0.0.1').on('error', () => process.exit(1)).on('connect', () => process.exit(0))`
    const { stdout, stderr } = await run(
      'sh',
      [],
      pasted.replace('sleep 2', `until node -e "${isListening}"; do sleep 0.1; done`),
    )
    const [first, answer] = stdout
      .split('\n')
      .filter((line) => line.includes('°C in Oslo') && line.startsWith('{'))
    expect(first).toBeDefined()
    expect(answer).toBe(first)
    expect(stdout).toMatch(/^2 .*tools\/call weather .* ok {2}city=Oslo$/m)
    expect(stdout).toContain('bug-report.tape.jsonl: no secrets')
    expect(stderr).toContain('next, serve it without the server: reelay serve bug')
  },
)

test.skipIf(process.platform === 'win32')(
  'the quick start of a security tester works as it is pasted',
  async () => {
    const { stdout, stderr } = await run('sh', [], quickStart('I test security'))
    expect(stdout).toContain('../../etc/passwd')
    expect(stdout).toContain('no secrets')
    expect(stderr).toContain('1 fault')
  },
)

test('each quick start of the README has at most ten lines', () => {
  for (const title of [
    'I write a server',
    'I write an agent or a client',
    'A remote server fails',
    'I test security',
  ])
    expect(quickStart(title).trim().split('\n').length).toBeLessThanOrEqual(10)
})

test('the documentation lists every command, and the README only commands that exist', () => {
  const names = Object.values(COMMANDS)
    .flat()
    .map(({ name }) => name)
  const listed = [...readFileSync('docs/README.md', 'utf8').matchAll(/^ {2}- \[`([\w-]+)`\]/gm)].map(
    ([, name]) => name,
  )
  expect(listed).toEqual(names)
  const inReadme = [...readFileSync('README.md', 'utf8').matchAll(/^\| \[`reelay ([\w-]+)`\]/gm)].map(
    ([, name]) => name,
  )
  expect(inReadme.length).toBeGreaterThan(10)
  expect(names).toEqual(expect.arrayContaining(inReadme))
})

/** The shell function that plays the client, and the block below a heading. */
function quickStart(title: string): string {
  const [, section = ''] = readFileSync('README.md', 'utf8').split('## Quick starts')
  return blockIn(section) + blockIn(section.split(`### ${title}`)[1] ?? '')
}

function blockIn(section: string): string {
  return /```sh\n([^`]*)```/.exec(section)?.[1] ?? ''
}

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A folder with the command `reelay`, as `npm link` makes it. */
function linkReelay(): string {
  const folder = join(home, 'bin')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'reelay'))) symlinkSync(resolve('dist/cli/main.js'), join(folder, 'reelay'))
  return folder
}

async function run(
  file: string,
  args: readonly string[],
  input: string,
): Promise<{ stdout: string; stderr: string }> {
  const PATH = `${linkReelay()}${delimiter}${process.env['PATH']}`
  const env = { ...process.env, PATH, FORCE_COLOR: undefined, REELAY_HOME: home }
  const child = spawn(file, args, { cwd: home, env, stdio: 'pipe' })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { WRAPPABLE_CLIENTS } from '../../src/wrap/clients/index.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { isAlive, linesOf, start, temporaryFolder, until } from '../support/recorder.ts'
import { userIn, type User } from '../support/reelay-at.ts'
import { callTool } from '../support/sdk.ts'
import { connectStdio, type SdkProcess } from '../support/sdk-session.ts'

const CLIENT = resolve('test/fixtures/clients/start-and-wait.mjs')
const [NODE = '', SERVER = ''] = referenceServer('server-memory')

let folder: string
let user: User
let files: Readonly<Record<'vscode' | 'desktop', string>>
beforeEach(() => {
  folder = temporaryFolder()
  user = userIn(folder)
  files = { vscode: place('vscode', vscodeConfig()), desktop: place('claude-desktop', desktopConfig()) }
})

test('journey 1: wrap, use, doctor, unwrap, in the configs of two clients', async () => {
  const before = readFileSync(files.vscode)
  const beforeDesktop = readFileSync(files.desktop)

  const dry = await user.reelay('wrap', 'memory', '--dry-run')
  expect(dry).toMatchObject({ stderr: '', code: 0 })
  expect(dry.stdout.match(/^[-+][ \t].*/gm)).toHaveLength(4) // the args out and in, for each of two files: their command is this Node before and after
  expect(readFileSync(files.vscode).equals(before)).toBe(true)

  expect(await user.reelay('wrap', 'memory')).toMatchObject({
    stderr: 'restart claude-desktop, vscode to apply the change\n',
    code: 0,
  })
  await useAsVsCode()
  await useAsDesktop()

  const { stdout, code } = await user.reelay('doctor')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  for (const client of ['claude-desktop', 'vscode']) {
    const lines = `^ok {5}memory in ${client}, wrapped since 20.*\\n.*\\n +tape {4}<folder>.reelay.tapes.memory-${client}\\.tape\\.jsonl, 20`
    expect(stdout).toMatch(new RegExp(lines, 'm'))
  }

  expect(await user.reelay('unwrap', '--all')).toMatchObject({ code: 0 })
  expect(readFileSync(files.vscode).equals(before)).toBe(true)
  expect(readFileSync(files.desktop).equals(beforeDesktop)).toBe(true)
  expect(readdirSync(dirname(files.vscode))).toEqual(['mcp.json'])
})

test('killing the client of a wrapped server leaves no process behind', async () => {
  await user.reelay('wrap', 'memory')
  const { command, args } = entryOf(files.desktop, ['mcpServers', 'memory'])
  const client = start([process.execPath, CLIENT, command, ...args])
  const { recorder } = JSON.parse(await client.line('recorder')) as { recorder: number }
  const tape = join(folder, 'reelay/tapes/memory-claude-desktop.tape.jsonl')
  await until(() => existsSync(tape) && linesOf(tape).length > 1)
  const pids = [recorder, Number(linesOf(tape)[1]?.['pid'])]
  expect(pids.map(isAlive)).toEqual([true, true])
  client.child.kill('SIGKILL')
  await until(() => !pids.some(isAlive))
})

test('wrap says what it did, and does nothing the second time', async () => {
  expect(await user.reelay('wrap', '--all', '--client', 'vscode')).toMatchObject({
    stdout: [
      'memory: wrapped, sessions are recorded to the tape <folder>/reelay/tapes/memory-vscode.tape.jsonl (vscode, <folder>/project/.vscode/mcp.json)\n',
      'notion: wrapped through a bridge (unwrap it again if the server requires a login), sessions are recorded to the tape <folder>/reelay/tapes/notion-vscode.tape.jsonl (vscode, <folder>/project/.vscode/mcp.json)\n',
    ].join(''),
    code: 0,
  })
  expect(await user.reelay('wrap', 'memory', '--client', 'vscode')).toEqual({
    stdout: 'memory: already wrapped, nothing changed (vscode, <folder>/project/.vscode/mcp.json)\n',
    stderr: '',
    code: 0,
  })
})

test('wrap --json says the same for programs', async () => {
  const { stdout, code } = await user.reelay('wrap', 'memory', 'notion', '--client', 'vscode', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    dryRun: false,
    outcomes: [
      { kind: 'wrapped', client: 'vscode', file: '<folder>/project/.vscode/mcp.json', server: 'memory' },
      { kind: 'wrapped', client: 'vscode', server: 'notion', bridge: true },
    ],
    diffs: [expect.stringContaining('@@')],
  })
})

test('a dry run shows what the client puts in and the variables that are made, and no token', async () => {
  const entry = {
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer ${input:key}', 'X-Api-Key': 'k-5f2e8a91c0' },
  }
  place('cursor', JSON.stringify({ mcpServers: { notion: entry } }, null, 2))
  const { stdout } = await user.reelay('wrap', 'notion', '--client', 'cursor', '--dry-run')
  expect(stdout).toContain(
    '"--header-env", "Authorization=REELAY_HEADER_1", "--header-env", "X-Api-Key=REELAY_HEADER_2"',
  )
  expect(stdout).toContain('+        "REELAY_HEADER_1": "Bearer ${input:key}",\n')
  expect(stdout).not.toContain('k-5f2e8a91c0')
})

test('misuse is refused before anything is read', async () => {
  expect(await user.reelay('wrap')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no server is given'),
  })
  expect(await user.reelay('unwrap', 'x', '--all')).toMatchObject({ code: 2 })
  expect(await user.reelay('wrap', '--all', '--client', 'emacs')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'the clients are claude-desktop, claude-code, cursor, vscode, codex, gemini, zed',
    ),
  })
  expect(await user.reelay('wrap', 'nobody')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('SERVER_NOT_FOUND no config contains a server "nobody"'),
  })
})

test('a broken config is refused with its place, and the exit code says so', async () => {
  writeFileSync(files.vscode, '{ "servers": { "memory": { "command": "x" "args": [] } } }')
  const { stdout, code } = await user.reelay('wrap', '--all', '--client', 'vscode')
  expect({ stdout, code }).toEqual({
    stdout:
      'CONFIG_BROKEN <folder>/project/.vscode/mcp.json cannot be read: line 1, column 43: comma expected; the file was not changed; fix it, then try again\n',
    code: 3,
  })
})

test('doctor finds a recorder that is gone, entries without memory, memory without entries and a broken config', async () => {
  await user.reelay('wrap', 'memory')
  writeFileSync(
    files.vscode,
    readFileSync(files.vscode, 'utf8').replace(/"[^"]*main\.js"/, '"/gone/cli/main.js"'),
  )
  writeFileSync(files.desktop, desktopConfig())
  place(
    'cursor',
    '{ "mcpServers": { "hand": { "command": "reelay", "args": ["record", "a b", "--", "x"] } } }',
  )
  place('zed', '{')
  const { stdout, code } = await user.reelay('doctor', '--json')
  const { entries, configs, healthy } = JSON.parse(stdout) as Checkup
  expect({ code, healthy }).toEqual({ code: 1, healthy: false })
  const found = entries.map(({ client, findings }) => [client, ...findings.map(({ kind }) => kind)])
  expect(found).toEqual([
    ['cursor', 'not-remembered', 'recorder-fails', 'tape-unusable'], // there is no reelay on this PATH
    ['vscode', 'recorder-gone'],
    ['claude-desktop', 'no-longer-wrapped'],
  ])
  const refused = configs.filter(({ findings }) => findings.length > 0)
  expect(refused).toMatchObject([{ client: 'zed', findings: [{ kind: 'config-refused' }] }])
  const text = await user.reelay('doctor')
  expect(text.stdout).toContain('wrong   its recorder does not exist: /gone/cli/main.js\n')
  expect(text.stdout).toMatch(/6 things to look at\n$/)
})

test.skipIf(process.platform === 'win32')(
  'doctor finds a tape folder that others can read, or that is not a folder',
  async () => {
    mkdirSync(join(folder, 'reelay/tapes'), { recursive: true, mode: 0o755 })
    expect((await user.reelay('doctor')).stdout).toContain(
      'hint    tapes may contain secrets: run chmod 700 <folder>/reelay/tapes\n',
    )
    rmSync(join(folder, 'reelay/tapes'), { recursive: true })
    writeFileSync(join(folder, 'reelay/tapes'), '')
    expect(await user.reelay('doctor')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('is not a folder'),
    })
  },
)

test('doctor with nothing wrapped says how to begin, and that all is well only if no config is a risk', async () => {
  const { stdout, code } = await user.reelay('doctor')
  expect(code).toBe(0)
  expect(stdout).toContain('nothing is wrapped yet: run reelay wrap <server>\n')
  expect(stdout).toMatch(/\n\nall is well\n$/)

  const remote = {
    url: 'http://mcp.example.com/mcp',
    headers: { Authorization: `Bearer ghp_${'a1'.repeat(18)}` },
  }
  writeFileSync(files.desktop, JSON.stringify({ mcpServers: { remote } }))
  const risky = await user.reelay('doctor', '--offline')
  expect(risky.code).toBe(0)
  expect(risky.stdout).toMatch(/\n\nwhat is wrapped works; 2 risks are in the configs\n$/)
})

interface Checkup {
  readonly healthy: boolean
  readonly configs: readonly { client: string; findings: readonly { kind: string }[] }[]
  readonly entries: readonly { client: string; findings: readonly { kind: string }[] }[]
}

/** What VS Code does: it asks for the inputs, and puts them in wherever they are named. */
async function useAsVsCode(): Promise<void> {
  const graph = join(folder, 'graph of vscode.jsonl')
  const session = await startEntry(files.vscode, ['servers', 'memory'], { '${input:graph}': graph })
  await callTool(session.client, 'create_entities', {
    entities: [{ name: 'Ada', entityType: 'person', observations: [] }],
  })
  expect(await session.close()).toMatchObject({ code: 0 })
  expect(readFileSync(graph, 'utf8')).toContain('Ada')
}

async function useAsDesktop(): Promise<void> {
  const session = await startEntry(files.desktop, ['mcpServers', 'memory'], {})
  expect((await session.client.listTools()).tools.length).toBeGreaterThan(3)
  await session.close()
}

/** Starts an entry of a config exactly as it is written, with the variables that its client expands. */
function startEntry(
  file: string,
  path: readonly string[],
  inputs: Record<string, string>,
): Promise<SdkProcess> {
  const entry = entryOf(file, path)
  const filled = (text: string): string => inputs[text] ?? text
  const env = Object.fromEntries(Object.entries(entry.env).map(([name, value]) => [name, filled(value)]))
  const answers = { root: 'file:///', elicited: {} }
  return connectStdio({ sdk: 'v1', command: [entry.command, ...entry.args].map(filled), env, answers })
}

function entryOf(file: string, path: readonly string[]): Entry {
  const config: unknown = JSON.parse(readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, ''))
  return path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), config) as Entry
}

interface Entry {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Record<string, string>
}

function place(client: string, text: string): string {
  const file =
    WRAPPABLE_CLIENTS.find(({ name }) => name === client)?.configLocations(user.where)[0]?.file ?? ''
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

function vscodeConfig(): string {
  return `{
  // the graph is asked for
  "inputs": [{ "type": "promptString", "id": "graph", "description": "where the graph is" }],
  "servers": {
    "memory": {
      "type": "stdio",
      "command": ${JSON.stringify(NODE)},
      "args": [${JSON.stringify(SERVER)}],
      "env": { "MEMORY_FILE_PATH": "\${input:graph}" }
    },
    "notion": { "type": "http", "url": "https://example.com/mcp" }
  }
}
`
}

function desktopConfig(): string {
  const env = { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') }
  const memory = { command: NODE, args: [SERVER], env }
  const other = { command: 'other', args: [] }
  return JSON.stringify({ mcpServers: { memory, other } }, null, '\t').replaceAll('\n', '\r\n')
}

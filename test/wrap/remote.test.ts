import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse } from 'jsonc-parser'
import { getStaticTOMLValue, parseTOML } from 'toml-eslint-parser'
import { beforeEach, expect, test } from 'vitest'
import { doctor } from '../../src/wrap/doctor.ts'
import { loadTape } from '../../src/store/read.ts'
import { httpServer } from '../support/http.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { wrap } from '../../src/wrap/wrap.ts'
import { deskIn, RECORDER, type Desk } from './desk.ts'

const CURSOR = 'home/.cursor/mcp.json'
const CODEX = 'home/.codex/config.toml'
const URL = 'https://example.com/mcp'

let desk: Desk
let folder: string
beforeEach(() => void (desk = deskIn((folder = temporaryFolder()))))

const HEADER = ['--header-env', 'Authorization=REELAY_HEADER_1']
const CASES = [
  {
    sample: 'claude-desktop.json',
    file: 'home/.config/Claude/claude_desktop_config.json',
    root: 'mcpServers',
  },
  { sample: 'claude-code.json', file: 'project/.mcp.json', root: 'mcpServers' },
  { sample: 'cursor.json', file: CURSOR, root: 'mcpServers' },
  { sample: 'vscode.json', file: 'project/.vscode/mcp.json', root: 'servers' },
  { sample: 'gemini.json', file: 'home/.gemini/settings.json', root: 'mcpServers' },
  { sample: 'zed.json', file: 'home/.config/zed/settings.json', root: 'context_servers' },
  { sample: 'codex.toml', file: CODEX, root: 'mcp_servers' },
]

test.each(CASES)(
  '$sample: an entry with a url starts a bridge, and unwrap restores every byte',
  ({ sample, file, root }) => {
    const before = withNotion(sample)
    desk.write(file, before)
    const { outcomes } = desk.wrap(['notion'])
    expect(outcomes).toMatchObject([{ kind: 'wrapped', server: 'notion' }])
    const entry = read(file)[root]?.['notion'] as {
      command: string
      args: string[]
      type?: string
      env?: object
    }
    expect(entry.command).toBe(RECORDER.node)
    const [tape] = entry.args.slice(-1)
    const headers = before.includes('Authorization') ? HEADER : []
    const words = [
      RECORDER.program,
      'record',
      '--bridge',
      '--server',
      'notion',
      '--url',
      URL,
      ...headers,
      tape,
    ]
    expect(entry.args).toEqual(words)
    expect(entry.type ?? 'stdio').toBe('stdio')
    for (const gone of ['url', 'httpUrl', 'headers', 'http_headers']) expect(entry).not.toHaveProperty(gone)
    expect(desk.wrap(['notion']).outcomes).toMatchObject([{ kind: 'already-wrapped' }])
    expect(desk.unwrap(['notion']).outcomes).toMatchObject([{ kind: 'unwrapped', exact: true }])
    expect(desk.read(file)).toBe(before)
  },
)

test('headers become variables of the environment, and what the client expands in them stays as it is spelled', () => {
  desk.write('project/.vscode/mcp.json', sampleText('vscode.json'))
  desk.wrap(['notion'])
  expect(read('project/.vscode/mcp.json')['servers']?.['notion']).toMatchObject({
    type: 'stdio',
    env: { REELAY_HEADER_1: 'Bearer ${input:key}' },
  })
})

test.each([
  [
    'as an inline table',
    `[mcp_servers.notion]\nurl = "${URL}"\nhttp_headers = { Authorization = "a b", "X-Key" = 'k' }\n`,
  ],
  [
    'as a table of their own',
    `[mcp_servers.notion]\nurl = '${URL}'\n\n[mcp_servers.notion.http_headers]\nAuthorization = "a b"\nX-Key = "k"\n[other]\n`,
  ],
  [
    'in an entry on one line',
    `[mcp_servers]\nnotion = { url = "${URL}", http_headers = { Authorization = "a b", X-Key = "k" } }\n`,
  ],
])('Codex: headers that are written %s', (_, before) => {
  desk.write(CODEX, before)
  desk.wrap(['notion'])
  const entry = read(CODEX)['mcp_servers']?.['notion'] as { args: string[]; env: object }
  expect(entry.env).toEqual({ REELAY_HEADER_1: 'a b', REELAY_HEADER_2: 'k' })
  expect(entry.args).toEqual(expect.arrayContaining([...HEADER, '--header-env', 'X-Key=REELAY_HEADER_2']))
  rmSync(join(folder, 'reelay', 'wrapped.json'))
  expect(desk.unwrap(['notion']).outcomes).toMatchObject([{ exact: false }])
  expect(meaning(desk.read(CODEX))).toEqual(meaning(before))
})

test('Codex: a token that comes from a variable is handed on to the bridge by its name', () => {
  const before = `[mcp_servers.notion]\nurl = "${URL}"\nbearer_token_env_var = "NOTION_TOKEN"\n`
  desk.write(CODEX, before)
  desk.wrap(['notion'])
  const entry = read(CODEX)['mcp_servers']?.['notion'] as { args: string[]; env_vars: string[] }
  expect(entry.env_vars).toEqual(['NOTION_TOKEN'])
  expect(entry.args).toContain('Authorization: Bearer ${env.NOTION_TOKEN}')
  rmSync(join(folder, 'reelay', 'wrapped.json'))
  desk.unwrap(['notion'])
  expect(meaning(desk.read(CODEX))).toEqual(meaning(before))
})

test('an entry that was changed after it was wrapped keeps the change, and means what it meant', () => {
  desk.write('project/.mcp.json', sampleText('claude-code.json').replace('"http"', '"sse"'))
  desk.wrap(['notion'])
  const edited = desk
    .read('project/.mcp.json')
    .replace('"type": "stdio", "command": "/opt', '"disabled": true, $&')
  desk.write('project/.mcp.json', edited)
  expect(desk.unwrap(['notion']).outcomes).toMatchObject([{ kind: 'unwrapped', exact: false }])
  expect(read('project/.mcp.json')['mcpServers']?.['notion']).toEqual({
    disabled: true,
    type: 'sse',
    url: URL,
    headers: { Authorization: 'Bearer ${TOKEN}' },
  })
})

test.each([
  [CURSOR, '{"mcpServers":{"notion":{"url":7}}}', 'its url is not a string'],
  [
    CURSOR,
    `{"mcpServers":{"notion":{"url":"${URL}","headers":{"A":"b"},"env":{}}}}`,
    'it has both headers and an env',
  ],
  [
    CURSOR,
    `{"mcpServers":{"notion":{"url":"${URL}","headers":{"A":["b"]}}}}`,
    'its headers are not a list of strings',
  ],
  [CODEX, `[mcp_servers.notion]\nurl = "${URL}"\nenv_http_headers = { A = "B" }\n`, 'env_http_headers'],
  [
    CODEX,
    `[mcp_servers.notion]\nurl = "${URL}"\n[other]\n[mcp_servers.notion.http_headers]\nA = "b"\n`,
    'stand apart',
  ],
])('%s: %s is left alone, with the reason', (file, before, why) => {
  desk.write(file, before)
  expect(desk.wrap(['notion']).outcomes).toMatchObject([
    { kind: 'odd', why: expect.stringContaining(why) as string },
  ])
  expect(desk.read(file)).toBe(before)
})

test('a wrapped url works: the client starts it, the server gets the header, a tape is made, and doctor is content', async () => {
  const seen: unknown[] = []
  const { origin } = await httpServer(async (req, res) => {
    seen.push(req.headers['x-key'])
    await text(req)
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  desk.write(
    CURSOR,
    JSON.stringify({ mcpServers: { local: { url: `${origin}/mcp`, headers: { 'X-Key': 's3' } } } }),
  )
  const recorder = { node: process.execPath, program: REELAY }
  wrap({ servers: 'all', where: desk.where, dryRun: false, recorder, now: () => new Date() })
  const entry = read(CURSOR)['mcpServers']?.['local'] as { command: string; args: string[]; env: object }
  const env = { ...process.env, ...entry.env, REELAY_HOME: join(folder, 'reelay') }
  const client = start([entry.command, ...entry.args], { env })
  client.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await client.line('"id":1')
  client.child.stdin.end()
  expect((await client.exited).code).toBe(0)
  expect(seen).toEqual(['s3'])
  const { entries, healthy } = await doctor(desk.where)
  expect({ healthy, entries }).toMatchObject({ healthy: true, entries: [{ server: 'local', wrapped: true }] })
  expect(entries[0]?.newest).not.toBeNull()
  expect((await loadTape(entries[0]?.newest?.path ?? '')).turns).toHaveLength(1)
})

type Config = Record<string, Record<string, unknown> | undefined>

function read(file: string): Config {
  return meaning(desk.read(file), file)
}

function meaning(config: string, file: string = CODEX): Config {
  return (file.endsWith('.toml') ? getStaticTOMLValue(parseTOML(config)) : parse(config)) as Config
}

function sampleText(name: string): string {
  return readFileSync(join('test/fixtures/configs', name), 'utf8')
}

/** Most samples have a server at a url already. */
function withNotion(sample: string): string {
  const before = sampleText(sample)
  if (before.includes('notion')) return before
  return `{ "mcpServers": { "notion": { "url": "${URL}" } } }`
}

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse } from 'jsonc-parser'
import { getStaticTOMLValue, parseTOML } from 'toml-eslint-parser'
import { beforeEach, expect, test } from 'vitest'
import { runDoctor } from '../../src/wrap/doctor/doctor.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { httpServer } from '../support/http.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { wrapServers } from '../../src/wrap/wrap.ts'
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
      '--numbered',
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

test('headers of an entry that has an env go there, before what stands in it', () => {
  const before = `{ "mcpServers": { "notion": {
    "url": "${URL}", // where
    "headers": { "Authorization": "Bearer \${env:KEY}", "X-Key": "k" },
    "env": { "A": "b" } // mine
  } } }`
  desk.write(CURSOR, before)
  desk.wrap(['notion'])
  expect(desk.read(CURSOR)).toBe(`{ "mcpServers": { "notion": {
    "command": "/opt/node/bin/node", "args": ["/opt/reelay/dist/cli/main.js", "record", "--numbered", "--bridge", "--server", "notion", "--url", "${URL}", "--header-env", "Authorization=REELAY_HEADER_1", "--header-env", "X-Key=REELAY_HEADER_2", "${folder}/reelay/tapes/notion-cursor.tape.jsonl"], // where
    "env": { "REELAY_HEADER_1": "Bearer \${env:KEY}", "REELAY_HEADER_2": "k", "A": "b" } // mine
  } } }`)
  expect(desk.unwrap(['notion']).outcomes).toMatchObject([{ exact: true }])
  expect(desk.read(CURSOR)).toBe(before)
})

test('Codex: headers from variables are handed on by name, and the token with them', () => {
  const before = `[mcp_servers.notion]
url = "${URL}" # where
bearer_token_env_var = "TOKEN"
http_headers = { X-A = "a" }
tool_timeout_sec = 5

[mcp_servers.notion.env_http_headers]
X-Key = "KEY"
X-Token = "TOKEN"

[mcp_servers.other]
command = "x"
`
  desk.write(CODEX, before)
  desk.wrap(['notion'])
  expect(desk.read(CODEX)).toBe(`[mcp_servers.notion]
command = "/opt/node/bin/node"
args = ["/opt/reelay/dist/cli/main.js", "record", "--numbered", "--bridge", "--server", "notion", "--url", "${URL}", "--header-env", "X-A=REELAY_HEADER_1", "--header-env", "X-Key=KEY?", "--header-env", "X-Token=TOKEN?", "--header", "Authorization: Bearer \${env.TOKEN}", "${folder}/reelay/tapes/notion-codex.tape.jsonl"]
env_vars = ["TOKEN", "KEY"] # where
env = { REELAY_HEADER_1 = "a" }
tool_timeout_sec = 5



[mcp_servers.other]
command = "x"
`)
  desk.write(CODEX, desk.read(CODEX).replace('"KEY"]', '"KEY", "MINE"]'))
  expect(desk.unwrap(['notion']).outcomes).toMatchObject([{ exact: false }])
  expect(meaning(desk.read(CODEX))['mcp_servers']?.['notion']).toEqual({
    ...(meaning(before)['mcp_servers']?.['notion'] as object),
    env_vars: ['MINE'],
  })
})

test('Codex: a table of headers with nothing in it does not stay, for Codex refuses one beside a command', () => {
  const before = `[mcp_servers.notion]\nurl = "${URL}"\n[mcp_servers.notion.http_headers]\n`
  desk.write(CODEX, before)
  desk.wrap(['notion'])
  expect(Object.keys(read(CODEX)['mcp_servers']?.['notion'] as object)).toEqual(['command', 'args'])
  desk.unwrap(['notion'])
  expect(desk.read(CODEX)).toBe(before)
})

test('what only Codex knows means nothing to other clients, and stays', () => {
  desk.write(CURSOR, `{"mcpServers":{"notion":{"url":"${URL}","bearer_token_env_var":"TOKEN"}}}`)
  desk.wrap(['notion'])
  const entry = read(CURSOR)['mcpServers']?.['notion'] as { args: string[] }
  expect(Object.keys(entry)).toEqual(['command', 'args', 'bearer_token_env_var'])
  expect(entry.args).not.toContain('--header')
})

test('Gemini CLI: of two urls the one that counts is bridged, and the other does not stay', () => {
  const file = 'home/.gemini/settings.json'
  const before = `{"mcpServers":{"notion":{"url":"https://old.example/sse","httpUrl":"${URL}"}}}`
  desk.write(file, before)
  desk.wrap(['notion'])
  const entry = read(file)['mcpServers']?.['notion'] as { args: string[] }
  expect(Object.keys(entry)).toEqual(['command', 'args'])
  expect(entry.args).toContain(URL)
  desk.unwrap(['notion'])
  expect(desk.read(file)).toBe(before)
})

test.each([
  [`${URL}?apiKey=s3cret`, true],
  ['https://${USER}:${PASS}@example.com/mcp', true],
  ['https://example.com/s/9f8e7d6c5b4a/mcp', true],
  ['https://${input:host}/mcp', true],
  ['https://api.example.com:8443/v1/mcp', false],
])('whether %s may hold a secret, and is kept out of the command line: %s', (url, isHidden) => {
  desk.write(CURSOR, JSON.stringify({ mcpServers: { notion: { url } } }))
  desk.wrap(['notion'])
  const entry = read(CURSOR)['mcpServers']?.['notion'] as { args: string[]; env?: object }
  expect(entry.args.includes(url)).toBe(!isHidden)
  expect(entry.env).toEqual(isHidden ? { REELAY_URL: url } : undefined)
})

test.each([
  [CURSOR, '{"mcpServers":{"notion":{"url":7}}}', 'its url is not a string'],
  [
    CURSOR,
    `{"mcpServers":{"notion":{"url":"${URL}","headers":{"A":["b"]}}}}`,
    'its headers are not a list of strings',
  ],
  [
    CURSOR,
    `{"mcpServers":{"notion":{"url":"${URL}","headers":{"A b":"c"}}}}`,
    'it has a header "A b", which is not a valid header name',
  ],
  [
    CURSOR,
    `{"mcpServers":{"notion":{"url":"${URL}","headers":{"A":"b"},"env":7}}}`,
    'its env is not a table',
  ],
  [
    CURSOR,
    `{"mcpServers":{"notion":{"url":"${URL}","auth":{"CLIENT_ID":"x"}}}}`,
    'the client logs in there (auth); record the client itself: reelay record --forward',
  ],
  ['project/.mcp.json', `{"mcpServers":{"notion":{"url":"${URL}","headersHelper":"./h"}}}`, 'headersHelper'],
  [
    'project/.mcp.json',
    '{"mcpServers":{"notion":{"type":"ws","url":"wss://x/mcp"}}}',
    'not an http or https URL',
  ],
  [
    'project/.vscode/mcp.json',
    '{"servers":{"notion":{"url":"unix:///tmp/x.sock"}}}',
    'not an http or https URL',
  ],
  [
    'home/.gemini/settings.json',
    `{"mcpServers":{"notion":{"command":"x","httpUrl":"${URL}"}}}`,
    'it has both a command and a url',
  ],
  [CODEX, `[mcp_servers.notion]\nurl = "${URL}"\nenv_vars = ["A"]\n`, 'both a url and env_vars'],
  [CODEX, `[mcp_servers.notion]\nurl = "${URL}"\nscopes = ["a"]\n`, 'the client logs in there (scopes)'],
  [
    CODEX,
    `[mcp_servers.notion]\nurl = "${URL}"\nenv_http_headers = { A = "B C" }\n`,
    'not a valid variable name',
  ],
  [
    CODEX,
    `[mcp_servers.notion]\nurl = "${URL}"\n[other]\n[mcp_servers.notion.http_headers]\nA = "b"\n`,
    'not next to each other',
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
  wrapServers({ servers: 'all', where: desk.where, dryRun: false, recorder, now: () => new Date() })
  const entry = read(CURSOR)['mcpServers']?.['local'] as { command: string; args: string[]; env: object }
  const env = { ...process.env, ...entry.env, REELAY_HOME: join(folder, 'reelay') }
  const client = start([entry.command, ...entry.args], { env })
  client.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await client.line('"id":1')
  client.child.stdin.end()
  expect((await client.exited).code).toBe(0)
  expect(seen).toEqual(['s3'])
  const { entries, healthy } = await runDoctor(desk.where)
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

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

// mistakes.txt is what people type wrongly, with everything that Reelay prints and its exit code. Read it as they would: does each
// message say what is wrong, where, why, and what to do?
const TRANSCRIPT = readFileSync(join(import.meta.dirname, 'mistakes.txt'), 'utf8')
const CASES = TRANSCRIPT.split(/^\$ /m)
  .slice(1)
  .map((part) => /^(.*)\n([^]*)\[(\d+)\]\n*$/.exec(part)?.slice(1) ?? [part])

const MAIN = resolve('dist/cli/main.js')
/** A server that is no MCP server, at `$ODD` in the commands: `/404` answers with that status, `/html` with a page, `/error` with an error without an id. */
const odd = createServer((request, response) => {
  const path = request.url?.slice(1) ?? ''
  if (path === 'hang') return
  if (path === 'reset') return void request.socket.destroy()
  response.statusCode = /^\d{3}$/.test(path) ? Number(path) : 200
  if (response.statusCode === 302) response.setHeader('location', '/mcp')
  request.resume().once('end', () => response.end(ODD_BODIES[path] ?? '{"hello":1}'))
})
const ODD_BODIES: Readonly<Record<string, string>> = {
  html: '<h1>Welcome</h1>',
  error: '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}}',
}
let oddUrl = ''
const folder = realpathSync(sharedFolder())

afterAll(() => {
  odd.closeAllConnections()
  odd.close()
})

beforeAll(async () => {
  await once(odd.listen(0, '127.0.0.1'), 'listening')
  oddUrl = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`
  mkdirSync(join(folder, 'bin'))
  symlinkSync(MAIN, join(folder, 'bin', 'reelay'))
  write('server.cjs', SERVER)
  for (const tape of [['hello'], ['world'], ['-o', 'copy.tape.jsonl']])
    spawnSync(process.execPath, [MAIN, 'record', '-q', ...tape, '--', 'node', 'server.cjs'], {
      cwd: folder,
      env: environment(),
      input: SESSION,
    })
  mkdirSync(join(folder, 'folder'))
  mkdirSync(join(folder, 'folder.tape.jsonl'))
  write('empty.tape.jsonl', '')
  write('text.tape.jsonl', 'not json\n')
  write('newer.tape.jsonl', '{"reelay":9}\n')
  write('broken.yaml', 'faults:\n  - [1\n')
  write('misspelled-key.yaml', 'faults:\n  - { tool: weather, dely: 1s }\n')
  write('misspelled-tool.yaml', 'faults:\n  - { tool: wether, delay: 1s }\n')
  const params = '{ arguments: { city: Paris } }'
  write('other-params.yaml', `faults:\n  - { tool: weather, params: ${params}, delay: 1s }\n`)
  write('misspelled-config.yaml', 'replay: { valdation: {} }\n')
  write('clients.json', '{ "mcpServers": { "weather": { "command": "node", "args": ["server.cjs"] } } }\n')
})

test('there are at least 250 mistakes', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(250)
})

// A POSIX shell is what the commands are written for.
test.skipIf(process.platform === 'win32').concurrent.each(CASES)(
  '%s',
  async (line = '', output = '', code = '') => {
    const child = spawn('sh', ['-c', line], { cwd: folder, env: environment(), stdio: 'pipe' })
    child.stdin.end()
    const exited = new Promise((ended) => child.once('exit', ended))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect([shown(stdout + stderr), await exited]).toEqual([output, Number(code)])
  },
)

/** Without the paths and the times of this run. */
function shown(printed: string): string {
  return printed
    .replaceAll(folder, '~')
    .replaceAll(oddUrl, '$ODD')
    .replaceAll(oddUrl.replace('http', 'https'), '$ODD_TLS')
    .replaceAll(resolve('.'), '<reelay>')
    .replaceAll(/ +\d+(\.\d+)? (ms|s)\b/g, ' <time>')
}

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`,
    REELAY_HOME: join(folder, 'home'),
    HOME: folder,
    ODD: oddUrl,
    ODD_TLS: oddUrl.replace('http', 'https'),
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
    CI: undefined,
  }
}

function write(name: string, content: string): void {
  writeFileSync(join(folder, name), content)
}

const SERVER = `
const tools = [{ name: 'weather', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }]
const serverInfo = { name: 's', version: '1' }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
    : method === 'tools/list' ? { tools } : { content: [{ type: 'text', text: '12 °C in Oslo' }] }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})
`

const SESSION = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'me', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'weather', arguments: { city: 'Oslo' } } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  .join('')

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeAuthority, makeLeaf } from '../../src/http/proxy/certificates.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { REELAY, temporaryFolder } from '../support/recorder.ts'
import { ended, WEATHER, type Ended } from './program.ts'

vi.setConfig({ testTimeout: 60_000 })

const NODE = process.execPath
const CLIENT = resolve('test/fixtures/programs/through-proxy.mjs')

const run = (home: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  ended([NODE, REELAY, 'run', ...args], { REELAY_HOME: home, CI: '', ...env })

/** Nothing but the closing line of a replay that did not drift. */
const ANSWERED: unknown = expect.stringMatching(/^reelay: \d+ requests? answered from \S+\n$/)

/** A program that is not taken for Node. */
function otherProgram(): string {
  const path = join(temporaryFolder(), 'agent')
  symlinkSync(NODE, path)
  return path
}

test.each(['http', 'sse', 'http then sse'])(
  'the servers of a program in another language are recorded over %s, and replayed while they are down',
  async (kind) => {
    const home = temporaryFolder()
    const { url, close } = await mcpServer('http', kind === 'http' ? '/mcp' : '/sse')
    const program = [otherProgram(), CLIENT, kind, url, 'one', 'two']
    const live = await run(home, ['--record', 'demo', '--', ...program])
    expect(live).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\["one \S+","two \S+"\]\n$/) })
    expect(live.stderr).toContain(`reelay: recorded to ${join(home, 'tapes', 'demo.tape.jsonl')}\n`)
    const tape = await loadTape(join(home, 'tapes', 'demo.tape.jsonl'))
    expect(tape).toMatchObject({ ended: true, problems: [] })
    expect(Object.values(tape.header.servers)).toEqual([{ transport: 'http', url }])
    close()
    const played = await run(home, ['--replay', 'demo', '--', ...program])
    expect(played).toEqual({ code: 0, stdout: live.stdout, stderr: ANSWERED })
    const other = await run(home, ['--replay', 'demo', '--on-drift', 'fail', '--', ...program, 'three'])
    expect(other.code).toBe(1)
    expect(other.stderr).toContain('1 miss')
  },
)

test.each(['127.0.0.1', 'localhost'])(
  'a Go program, which uses no proxy for %s, is recorded, and replayed while its server is down',
  async (host) => {
    const home = temporaryFolder()
    const { url, close } = await mcpServer('http', '/mcp')
    const local = url.replace('127.0.0.1', host)
    const program = [goProgram(), 'http', local, 'one', 'two']
    const live = await run(home, ['--record', 'demo', '--', ...program])
    expect(live).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\["one \S+","two \S+"\]\n$/) })
    const dotted = `Go uses no proxy for localhost, so the program gets ${new URL(local).origin} with a dot after the host\n`
    expect(live.stderr).toContain(dotted)
    const tape = await loadTape(join(home, 'tapes', 'demo.tape.jsonl'))
    expect(Object.values(tape.header.servers)).toEqual([{ transport: 'http', url: local }])
    close()
    const played = await run(home, ['--replay', 'demo', '--', ...program])
    expect(played).toMatchObject({ code: 0, stdout: live.stdout })
    const variable = await run(
      home,
      ['--replay', 'demo', '--', goProgram(), 'http', '$SERVER', 'one', 'two'],
      {
        SERVER: local,
      },
    )
    expect(variable).toMatchObject({ code: 0, stdout: live.stdout })
  },
)

/** A program that is taken for one that Go has compiled, and that follows the rules of Go. */
function goProgram(): string {
  const path = join(temporaryFolder(), 'agent')
  const script = `#!/bin/sh\n# \u00ff Go buildinf:\nkind=$1 url=$(eval echo "$2"); shift 2\nRULES_OF_GO=1 exec '${NODE}' '${CLIENT}' "$kind" "$url" "$@"\n`
  writeFileSync(path, script, { encoding: 'latin1', mode: 0o755 })
  return path
}

test('over HTTPS too: recorded with the local CA, replayed with one that is made for the host', async () => {
  const home = temporaryFolder()
  const { url, close, authority } = await mcpServer('https')
  const program = [otherProgram(), CLIENT, 'http', url, 'one']
  const trust = { NODE_EXTRA_CA_CERTS: authority, SSL_CERT_FILE: authority }
  const unread = await run(home, ['--record', 'demo', '--', ...program], trust)
  expect(unread.code).toBe(1) // the program itself succeeded
  expect(unread.stderr).toContain(`HTTPS to ${new URL(url).host} was forwarded unread`)
  expect(unread.stderr).toContain('nothing was recorded')
  execFileSync(NODE, [REELAY, 'ca', 'create'], { env: { ...process.env, REELAY_HOME: home } })
  const live = await run(home, ['--record', 'demo', '--', ...program], trust)
  expect(live).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\["one \S+"\]\n$/) })
  close()
  execFileSync(NODE, [REELAY, 'ca', 'remove'], { env: { ...process.env, REELAY_HOME: home } })
  const played = await run(home, ['--replay', 'demo', '--', ...program])
  expect(played).toEqual({ code: 0, stdout: live.stdout, stderr: ANSWERED })
})

test('a server that is not on the tape is never reached, and what is not MCP passes and is not recorded', async () => {
  const home = temporaryFolder()
  const recorded = await mcpServer()
  const other = await mcpServer()
  const agent = otherProgram()
  const page = new URL('/page', other.url).href
  const both = ['--', '/bin/sh', '-c', '"$0" "$1" http "$2" one; "$0" "$1" page "$3"', agent, CLIENT]
  await run(home, ['--record', 'demo', ...both, recorded.url, page])
  const tape = readFileSync(join(home, 'tapes', 'demo.tape.jsonl'), 'utf8')
  expect(tape).not.toContain(new URL(page).port)
  const asked = other.requests()
  const played = await run(home, ['--replay', 'demo', ...both, other.url, page])
  expect(played.code).toBe(1)
  expect(played.stderr).toContain(`a request to ${other.url} was refused: the tape`)
  expect(played.stderr).toContain('nothing was played from demo')
  expect(played.stdout).toContain('a page')
  expect(other.requests()).toBe(asked + 1) // the page
})

test('a program that has a proxy of its own keeps it, and is told that nothing is played', async () => {
  const home = temporaryFolder()
  const { url } = await mcpServer()
  const program = [otherProgram(), CLIENT, 'http', url, 'one']
  await run(home, ['--record', 'demo', '--', ...program])
  const own = { HTTP_PROXY: 'http://127.0.0.1:1' }
  const print = ['--', otherProgram(), '-p', 'process.env.HTTP_PROXY']
  const played = await run(home, ['--replay', 'demo', ...print], own)
  expect(played).toMatchObject({ code: 1, stdout: `${own.HTTP_PROXY}\n` })
  expect(played.stderr).toContain('a proxy of its own (HTTP_PROXY)')
})

test('a server on the tape that the program did not use is drift', async () => {
  const home = temporaryFolder()
  const [one, two] = [await mcpServer(), await mcpServer()]
  const agent = otherProgram()
  const script = '"$0" "$1" http "$2" one; [ -z "$3" ] || "$0" "$1" http "$3" two'
  const command = ['--', '/bin/sh', '-c', script, agent, CLIENT]
  expect(await run(home, ['--record', 'demo', ...command, one.url, two.url])).toMatchObject({ code: 0 })
  const all = await run(home, ['--replay', 'demo', '--on-drift', 'fail', ...command, one.url, two.url])
  expect(all).toMatchObject({ code: 0, stderr: ANSWERED })
  const part = await run(home, ['--replay', 'demo', '--on-drift', 'fail', ...command, one.url, ''])
  expect(part.code).toBe(1)
  expect(part.stderr).toContain('is on the tape, but the program did not connect to it')
})

test.skipIf(process.platform === 'win32')(
  'the stdio servers of a program in another language are recorded on one tape, and each start is replayed',
  async () => {
    const home = temporaryFolder()
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Oslo"}}}`
    const ask = `printf '${call}\\n' | node ${WEATHER[1]} | cat`
    const program = ['--', '/bin/sh', '-c', `${ask}; ${ask}; echo x | node -p 1 | cat`]
    const live = await run(home, ['--record', 'demo', ...program])
    expect(live.stdout).toMatch(/^(\{.*Oslo \(ticket .*\n){2}1\n$/)
    const [first, second] = live.stdout.split('\n')
    expect(first).not.toBe(second)
    const tape = await loadTape(join(home, 'tapes', 'demo.tape.jsonl'))
    expect(tape).toMatchObject({ ended: true, problems: [] })
    expect(tape.header.servers).toMatchObject({ server: { command: ['node', WEATHER[1]] } })
    expect(existsSync(join(home, 'tapes', 'demo-2.tape.jsonl'))).toBe(false)
    const played = await run(home, ['--replay', 'demo', ...program])
    expect(played).toEqual({ code: 0, stdout: live.stdout, stderr: ANSWERED })
  },
)

test.skipIf(process.platform === 'win32')(
  'a server that a Python program starts by a path is recorded and replayed, and its own sitecustomize still runs',
  async () => {
    const [home, own] = [temporaryFolder(), temporaryFolder()]
    writeFileSync(join(own, 'sitecustomize.py'), 'import os; os.environ["OWN"] = "own module"')
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Oslo"}}}\n`
    const script = [
      'import os, subprocess, sys',
      'print(os.environ["OWN"], "sitecustomize" in sys.modules, flush=True)',
      'pipe = subprocess.PIPE',
      `print(subprocess.Popen(sys.argv[1:], stdin=pipe, stdout=pipe, text=True).communicate(${JSON.stringify(call)})[0])`,
      `try: subprocess.Popen([${JSON.stringify(join(home, 'missing'))}], stdin=pipe, stdout=pipe)`,
      'except FileNotFoundError: print("not found")',
    ].join('\n')
    const server = join(home, 'a server')
    symlinkSync(NODE, server)
    const program = ['--', 'python3', '-c', script, server, WEATHER[1] ?? '']
    const live = await run(home, ['--record', 'demo', ...program], { PYTHONPATH: own })
    expect(live.code).toBe(0)
    expect(live.stdout).toMatch(/^own module True\n\{.*Oslo \(ticket .*\n\nnot found\n$/)
    const tape = await loadTape(join(home, 'tapes', 'demo.tape.jsonl'))
    expect(Object.values(tape.header.servers)).toMatchObject([{ command: [server, WEATHER[1]] }])
    rmSync(server) // it is not started again
    const played = await run(home, ['--replay', 'demo', ...program], { PYTHONPATH: own })
    expect(played).toEqual({ code: 0, stdout: live.stdout, stderr: ANSWERED })
  },
)

interface LocalServer {
  readonly url: string
  readonly close: () => void
  readonly requests: () => number
  /** The certificate to trust, for HTTPS. */
  readonly authority: string
}

/** An MCP server for both transports over HTTP. Each answer is unique, so that a played one cannot be mistaken for a live one. */
async function mcpServer(
  protocol: 'http' | 'https' = 'http',
  path: '/mcp' | '/sse' = '/mcp',
): Promise<LocalServer> {
  let stream: ServerResponse | undefined
  let requests = 0
  const listener: RequestListener = (req, res) => {
    requests++
    if (req.url === '/page') return void res.end('a page')
    if (req.method === 'GET') {
      stream = res.writeHead(200, { 'content-type': 'text/event-stream' })
      return void stream.write('event: endpoint\ndata: /messages?session=1\n\n')
    }
    if (req.url === '/sse') return void res.writeHead(404).end()
    let body = ''
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    req.on('end', () => {
      const answer = answerTo(JSON.parse(body) as AnyRequest)
      if (answer === undefined || req.url !== '/mcp') res.writeHead(202).end()
      else res.setHeader('content-type', 'application/json').setHeader('mcp-session-id', 's').end(answer)
      if (answer !== undefined && req.url !== '/mcp') stream?.write(`event: message\ndata: ${answer}\n\n`)
    })
  }
  const ca = await makeAuthority('Upstream CA', new Date())
  const authority = join(temporaryFolder(), 'upstream.pem')
  writeFileSync(authority, ca.cert)
  const server =
    protocol === 'http'
      ? createPlainServer(listener)
      : createSecureServer(await makeLeaf(ca, 'localhost', new Date()), listener)
  await once(server.listen(0, 'localhost'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return { url: `${protocol}://localhost:${port}${path}`, close, requests: () => requests, authority }
}

interface AnyRequest {
  readonly id?: unknown
  readonly method: string
  readonly params: { readonly arguments: { readonly word: string } }
}

function answerTo({ id, method, params }: AnyRequest): string | undefined {
  if (id === undefined) return undefined
  const serverInfo = { name: 'local', version: '1' }
  const opened = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
  const text = `${params.arguments?.word} ${randomUUID().slice(0, 8)}`
  const result = method === 'initialize' ? opened : { content: [{ type: 'text', text }] }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

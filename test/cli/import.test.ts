import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { ReplaySession } from '../../src/serve/session/replay-session.ts'
import { RecordingIndex } from '../../src/match/recording-index.ts'
import { loadTape, openTape } from '../../src/store/file/read.ts'
import { REELAY, start, temporaryFolder, until } from '../support/recorder.ts'
import { startServing } from '../support/serving.ts'

const foreign = (name: string): string => resolve('test/fixtures/foreign', name)

test('bare messages become a tape that plays, each with the side that sent it and the bytes that it had', async () => {
  const { tape, code, err } = await imported(foreign('orders.mcp.jsonl'))
  expect(code).toBe(0)
  expect(err).toContain('note: skipped 1 entries that are not single JSON-RPC messages')
  const { turns, strays } = await loadTape(tape)
  expect(strays).toEqual([])
  expect(turns.map(({ trigger, steps }) => [trigger?.message.kind, steps.map(({ kind }) => kind)])).toEqual([
    ['request', ['respond']],
    ['notification', ['ask']],
    ['request', ['notify', 'respond']],
  ])
  expect(turns[2]?.trigger?.text).toContain('"price": 30.0')
  const session = new ReplaySession(await loadTape(tape))
  const answer = await session.callTool({ name: 'total', arguments: { price: 30 } })
  expect(answer).toEqual({ content: [{ type: 'text', text: '30.00' }] })
})

test('the index is built from what shadow import --format mcp wrote: every call of it is found', async () => {
  const { tape, code } = await imported(foreign('orders.agentlog'))
  expect(code).toBe(0)
  const index = new RecordingIndex((await loadTape(tape)).turns)
  const answers = [
    { method: 'tools/list' },
    { method: 'resources/read', params: { uri: 'note://1' } },
    { method: 'prompts/get', params: { name: 'x' } },
    { method: 'tools/call', params: { name: 'search', arguments: { q: 'milk' } } },
    { method: 'tools/call', params: { name: 'search', arguments: { q: 'none' } } },
  ].map((asked) => index.answer({ server: 'imported', ...asked }))
  expect(answers).toEqual([
    { result: { tools: [{ name: 'search', description: 'finds', inputSchema: { type: 'object' } }] } },
    { result: { contents: [] } },
    { error: { code: -32602, message: 'no such prompt' } },
    { result: { content: [{ type: 'text', text: 'found' }] } },
    { result: { content: [{ type: 'text', text: 'nothing' }], isError: true } },
  ])
  expect(index.unconsumedKeys()).toEqual([])
})

test.each([
  ['an array', (lines: readonly string[]) => `[${lines.join(',\n')}]`],
  ['an array under messages', (lines: readonly string[]) => `{"session":"x","messages":[${lines.join()}]}`],
])('messages in %s are read too', async (_, written) => {
  const lines = readFileSync(foreign('orders.mcp.jsonl'), 'utf8').trim().split('\n').slice(0, -1)
  const file = join(temporaryFolder(), 'session.json')
  writeFileSync(file, written(lines))
  const { tape } = await imported(file)
  expect((await loadTape(tape)).turns).toHaveLength(3)
})

test('secrets get stand-ins on the way', async () => {
  const file = join(temporaryFolder(), 'secret.jsonl')
  const secret = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xLrUoI'].join('_')
  writeFileSync(file, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"token":"${secret}"}}\n`)
  const { tape } = await imported(file)
  expect(readFileSync(tape, 'utf8')).not.toContain(secret)
})

test('several files become a tape each, and a folder is read with its companions', async () => {
  const folder = temporaryFolder()
  const call = { type: 'tool_call', seq: 1, tool: 'x', input: {}, output: { content: [] }, latency_ms: 1 }
  mkdirSync(join(folder, 'travel'))
  writeFileSync(join(folder, 'travel', 'recording.jsonl'), JSON.stringify(call))
  writeFileSync(
    join(folder, 'travel', 'metadata.json'),
    JSON.stringify({ serverName: 'bake', serverConfig: { command: 'node', args: ['s.mjs'] } }),
  )
  copyFileSync(foreign('orders.mcp.jsonl'), join(folder, 'orders.mcp.jsonl'))
  const env = { ...process.env, REELAY_HOME: folder }
  const run = start([process.execPath, REELAY, 'import', 'travel', 'orders.mcp.jsonl'], { env, cwd: folder })
  expect(await run.exited).toMatchObject({ code: 0 })
  expect(run.stdout().toString()).toMatch(
    /^2 messages \(mcp-time-travel\) to .*travel\.tape\.jsonl\n8 messages \(mcp\) to .*orders\.tape\.jsonl\n$/,
  )
  const { header } = await loadTape(/to (.*travel\.tape\.jsonl)/.exec(run.stdout().toString())?.[1] ?? '')
  expect(header.servers).toEqual({ bake: { transport: 'stdio', command: ['node', 's.mjs'] } })
})

test.each([
  [
    'a sparse file of 10 GB',
    (path: string) => truncateSync(path, 10 * 1024 ** 3),
    /10240 MB; recordings up to 128 MB/,
  ],
  ['a pipe', (path: string) => replaceByPipe(path), /not a regular file/],
])('%s is a clear error at once', async (_, make, message) => {
  const file = join(temporaryFolder(), 'odd.json')
  writeFileSync(file, '')
  make(file)
  const { code, err } = await imported(file)
  expect(code).toBe(3)
  expect(err).toMatch(message)
})

function replaceByPipe(path: string): void {
  rmSync(path)
  execFileSync('mkfifo', [path])
}

test(
  'a capture of tcpdump on loopback has the messages that tshark reads from it',
  { timeout: 60_000 },
  async () => {
    const { tape } = await imported(foreign('orders.mcp.jsonl'))
    const serving = await startServing(tape, '--http', '0')
    const url = new URL(serving.urls()[0] ?? '')
    const capture = join(temporaryFolder(), 'loopback.pcap')
    const tcpdump = start(['tcpdump', '-i', 'lo', '-U', '-w', capture, 'port', url.port])
    await until(() => tcpdump.stderr().includes('listening on') || tcpdump.child.exitCode !== null)
    const client = new Client({ name: 'c', version: '1' }, { capabilities: { roots: {} } })
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }))
    await client.connect(new StreamableHTTPClientTransport(url))
    await client.callTool({ name: 'total', arguments: { price: 30 } })
    await serving.stop() // ends the open stream, which tshark reads only as a whole
    await client.close()
    await until(() => readFileSync(capture).includes('\r\n0\r\n\r\n'))
    tcpdump.child.kill('SIGINT')
    await tcpdump.exited
    const { tape: captured, err, code } = await imported(capture)
    expect([code, err]).toEqual([0, ''])
    const read = await messagesOn(captured)
    expect(read).toEqual(
      expect.arrayContaining([expect.stringContaining('"total"'), expect.stringContaining('30.00')]),
    )
    expect(read.toSorted()).toEqual(messagesByTshark(capture).toSorted())
  },
)

async function messagesOn(tape: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const frame of (await openTape(tape)).frames())
    if (frame.kind === 'message') texts.push(frame.text)
  return texts
}

/** The bodies of all HTTP messages, with event streams split into their data. */
function messagesByTshark(capture: string): readonly string[] {
  const fields = ['-Y', 'http', '-T', 'fields', '-e', 'http.file_data']
  const out = execFileSync('tshark', ['-r', capture, '-d', 'tcp.port==1-65535,http', ...fields], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const bodies = out.toString().split('\n').filter(Boolean).map(bodyOf)
  return bodies.flatMap((body) =>
    body.startsWith('{') ? [body] : [...body.matchAll(/^data: ?(\{.*)$/gm)].map(([, data = '']) => data),
  )
}

/** Newer versions print bytes in hexadecimal, older ones text with escapes. */
function bodyOf(printed: string): string {
  return /^[0-9a-f]+$/.test(printed)
    ? Buffer.from(printed, 'hex').toString()
    : printed.replaceAll('\\n', '\n').replaceAll('\\"', '"')
}

test.each([
  ['text', 'hello', [], 3, /the format of the file is not recognised; tried pcap/],
  ['text', '{"a":1}', ['--format', 'mcp'], 3, /contains no messages in the format mcp: no JSON-RPC message/],
  ['records', '{"kind":"metadata","payload":{}}', ['--format', 'agentlog'], 3, /contain no call/],
  ['text', '[]', ['--format', 'nonsense'], 2, /unknown format "nonsense"/],
])('%s that is no recording is refused: %j %j', async (_, content, options, exit, message) => {
  const file = join(temporaryFolder(), 'odd.txt')
  writeFileSync(file, content)
  const { code, err } = await imported(file, ...options)
  expect(code).toBe(exit)
  expect(err).toMatch(message)
})

async function imported(
  file: string,
  ...options: readonly string[]
): Promise<{ tape: string; code: number | null; err: string }> {
  const tape = join(temporaryFolder(), 'out.tape.jsonl')
  const env = { ...process.env, REELAY_HOME: temporaryFolder() }
  const run = start([process.execPath, REELAY, 'import', file, '-o', tape, ...options], { env })
  const { code } = await run.exited
  return { tape, code, err: run.stderr() }
}

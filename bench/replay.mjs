// A tape replayed at full speed with validation on, beside the official client and a bare JSON-RPC loop doing the same calls.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { goal, here, interleave, median, scratch } from './measure.mjs'

const AT_ONCE = 64
const CALLS = { stdio: 64_000, http: 19_200 }
const SERVER = join(here, 'replay', 'server.mjs')

export async function replayBench({ rounds }) {
  const { commandTarget, loadTape, replay, urlTarget } = await import('../dist/index.js')
  const http = spawn(process.execPath, [SERVER, 'http'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const url = `http://127.0.0.1:${/port (\d+)/.exec(String(await once(http.stderr, 'data')))[1]}/mcp`
  const tapes = { stdio: writeTape('stdio'), http: writeTape('http') }
  const loading = []
  const replayed = async (kind, target) => {
    const began = performance.now()
    const tape = await loadTape(tapes[kind])
    const loaded = performance.now()
    if (kind === 'stdio') loading.push(((loaded - began) / CALLS[kind]) * 1000)
    const { summary } = await replay(tape, { target }).report
    if (summary.verdict !== 'pass') throw new Error(`the replay found ${summary.verdict}`)
    return (CALLS[kind] / (performance.now() - loaded)) * 1000
  }
  const variants = {
    'stdio, raw loop': () => rawLoop(),
    'stdio, official client': () =>
      official(new StdioClientTransport({ command: process.execPath, args: [SERVER] }), 'stdio'),
    'stdio, reelay': () => replayed('stdio', commandTarget([process.execPath, SERVER])),
    'HTTP, official client': () => official(new StreamableHTTPClientTransport(new URL(url)), 'http'),
    'HTTP, reelay': () => replayed('http', urlTarget(url)),
  }
  console.log(
    `\nreplay with validation, ${AT_ONCE} calls at once, from the start of the server to the report`,
  )
  const results = await interleave(rounds, variants, (run) => run())
  http.kill()
  const rate = Object.fromEntries(Object.entries(results).map(([name, values]) => [name, median(values)]))
  for (const [name, value] of Object.entries(rate))
    console.log(`  ${name.padEnd(24)} ${Math.round(value)} calls/s`)
  console.log(`  to load the tape before it takes ${median(loading).toFixed(1)} us a call`)
  return [
    goal(
      'over stdio, beside the official client',
      rate['stdio, reelay'] / rate['stdio, official client'],
      2,
      'at least',
    ),
    goal(
      'over HTTP, beside the official client',
      rate['HTTP, reelay'] / rate['HTTP, official client'],
      10,
      'at least',
    ),
  ]
}

/** So many calls, always so many of them open at once: each answer is followed by the next request. */
function writeTape(kind) {
  const path = join(scratch, `replay-${kind}.tape.jsonl`)
  const lines = [
    {
      reelay: 1,
      id: 'bench',
      started: new Date().toISOString(),
      by: 'bench',
      servers: { s: { transport: 'stdio' } },
      tags: {},
    },
  ]
  const add = (dir, msg) =>
    lines.push({ n: lines.length, t: lines.length / 100, server: 's', conn: 1, dir, msg })
  const ask = (n) =>
    add('c2s', { jsonrpc: '2.0', id: n, method: 'tools/call', params: { name: 'echo', arguments: { n } } })
  add('c2s', {
    jsonrpc: '2.0',
    id: 'i',
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'b', version: '1' } },
  })
  add('s2c', {
    jsonrpc: '2.0',
    id: 'i',
    result: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'trivial', version: '1' },
    },
  })
  for (let n = 0; n < AT_ONCE; n++) ask(n)
  for (let n = 0; n < CALLS[kind]; n++) {
    add('s2c', { result: { content: [{ type: 'text', text: `echo ${n}` }] }, jsonrpc: '2.0', id: n })
    if (n + AT_ONCE < CALLS[kind]) ask(n + AT_ONCE)
  }
  lines.push({ n: lines.length, t: lines.length / 100, event: 'end', frames: lines.length })
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

async function official(transport, kind) {
  const began = performance.now()
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transport)
  let next = 0
  const worker = async () => {
    while (next < CALLS[kind]) await client.callTool({ name: 'echo', arguments: { n: next++ } })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const rate = (CALLS[kind] / (performance.now() - began)) * 1000
  await client.close()
  return rate
}

/** Writes lines and parses lines: the least that a client can do. */
async function rawLoop() {
  const child = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', 'ignore'] })
  const began = performance.now()
  let [sent, got, rest] = [0, 0, '']
  const more = () => {
    let text = ''
    while (sent < CALLS.stdio && sent - got < AT_ONCE)
      text += `${JSON.stringify({ jsonrpc: '2.0', id: sent, method: 'tools/call', params: { name: 'echo', arguments: { n: sent++ } } })}\n`
    if (text !== '') child.stdin.write(text)
  }
  more()
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) got += JSON.parse(line).id === undefined ? 0 : 1
    if (got === CALLS.stdio) break
    more()
  }
  const rate = (CALLS.stdio / (performance.now() - began)) * 1000
  child.kill()
  return rate
}

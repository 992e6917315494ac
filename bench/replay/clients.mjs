// The clients beside which a replay is measured: the official ones of both SDKs, and a loop that does the least that a client can do.
import { spawn } from 'node:child_process'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export const AT_ONCE = 64

// For each call over HTTP the official client adds a listener to one signal, and Node warns of each from the 1,501st on: to
// write that to a terminal took half of its time.
process.removeAllListeners('warning')

/** Each gives the calls that it made in a second, from the start of the server to the last answer. */
export function sdk1OverStdio([command, ...args], calls) {
  return official(new Client(ME), new StdioClientTransport({ command, args }), calls)
}

export function sdk2OverStdio([command, ...args], calls) {
  return official(new ClientV2(ME), new StdioV2({ command, args }), calls)
}

export function sdk1OverHttp(url, calls) {
  return official(new Client(ME), new StreamableHTTPClientTransport(new URL(url)), calls)
}

const ME = { name: 'bench', version: '1' }

async function official(client, transport, calls) {
  const began = performance.now()
  await client.connect(transport)
  let next = 0
  const worker = async () => {
    while (next < calls) await client.callTool({ name: 'echo', arguments: { n: next++ } })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const rate = (calls / (performance.now() - began)) * 1000
  await client.close()
  return rate
}

/** Writes lines and parses lines. */
export async function rawLoop([command, ...args], calls) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const began = performance.now()
  let [sent, got, rest] = [0, 0, '']
  const more = () => {
    let text = ''
    while (sent < calls && sent - got < AT_ONCE)
      text += `${JSON.stringify({ jsonrpc: '2.0', id: sent, method: 'tools/call', params: { name: 'echo', arguments: { n: sent++ } } })}\n`
    if (text !== '') child.stdin.write(text)
  }
  more()
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) got += JSON.parse(line).id === undefined ? 0 : 1
    if (got === calls) break
    more()
  }
  const rate = (calls / (performance.now() - began)) * 1000
  child.kill()
  return rate
}

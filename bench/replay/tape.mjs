// A tape of calls, so many of them open at once: each answer is followed by the next request.
import { writeFileSync } from 'node:fs'
import { AT_ONCE } from './clients.mjs'

export function writeTape(path, calls) {
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
  for (let n = 0; n < calls; n++) {
    add('s2c', { result: { content: [{ type: 'text', text: `echo ${n}` }] }, jsonrpc: '2.0', id: n })
    if (n + AT_ONCE < calls) ask(n + AT_ONCE)
  }
  lines.push({ n: lines.length, t: lines.length / 100, event: 'end', frames: lines.length })
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

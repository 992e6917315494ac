// A server that takes 10 ms for a call, and stands still for two seconds when it is told to: node stall-server.mjs [<n> <ms>]. Every
// nth call takes longer. It prints its port.
import { createServer } from 'node:http'

const CALL_MS = 10
const STALL_MS = 2000
const [slowEvery = Infinity, slowMs = 0] = process.argv.slice(2).map(Number)
let stalledUntil = 0
let calls = 0

process.stdin.on('data', () => {
  stalledUntil = performance.now() + STALL_MS
})

const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'stalling', version: '1' },
  },
  'tools/list': {
    tools: [{ name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  },
}

createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    const { id, method } = JSON.parse(Buffer.concat(parts))
    if (id === undefined) return void response.writeHead(202).end()
    const result = RESULTS[method] ?? { content: [{ type: 'text', text: 'hello' }] }
    const body = JSON.stringify({ jsonrpc: '2.0', id, result })
    const respond = () => {
      if (performance.now() < stalledUntil) return void setTimeout(respond, stalledUntil - performance.now())
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    }
    const isCall = method === 'tools/call'
    setTimeout(respond, isCall && ++calls % slowEvery === 0 ? slowMs : isCall ? CALL_MS : 0)
  })
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port)
})

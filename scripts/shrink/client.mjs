// Plays the session of a bug: node client.mjs <bug> <number of calls> <seed> <server command…>
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { BUGS, sessionCalls } from './shop.mjs'

const [name, size, seed, ...command] = process.argv.slice(2)
const bug = BUGS.find((each) => each.name === name)
const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
createInterface({ input: child.stdout }).on('line', (line) => {
  const message = JSON.parse(line)
  waiting.get(message.id)?.(message.result)
})

let lastId = 0
function request(method, params) {
  const id = ++lastId
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  return new Promise((resolve) => void waiting.set(id, resolve))
}

await request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'shopper', version: '1.0.0' },
})
child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
await request('tools/list', {})
const orders = []
for (const { name: tool, order, given = {}, isParallel, pause } of sessionCalls(
  bug,
  Number(size),
  Number(seed),
)) {
  if (pause !== undefined) await new Promise((resolve) => void setTimeout(resolve, pause))
  const id = order === undefined ? {} : { id: orders[order] }
  const answered = request('tools/call', { name: tool, arguments: { ...id, ...given } })
  if (isParallel) continue
  const result = await answered
  if (tool === 'create') orders.push(result.structuredContent.id)
}
child.stdin.end()

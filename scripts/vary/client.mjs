// A client over stdio for the sessions of npm run vary.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Starts a server and opens a session. `request` resolves with the whole response, or rejects if the server ends or is silent. */
export async function connect([file, ...args], { timeout = 60_000 } = {}) {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map()
  let lastId = 0
  let isOver = false
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parsed(line)
    waiting.get(message?.id)?.resolve(message)
  })
  child.on('exit', () => {
    isOver = true
    for (const { reject } of waiting.values()) reject(new Error('crash'))
  })
  const send = (message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const exchange = (method, params) =>
    new Promise((resolve, reject) => {
      if (isOver) throw new Error('crash') // rejects the promise
      const id = ++lastId
      const timer = setTimeout(() => reject(new Error('hang')), timeout)
      const settle = (end) => (value) => {
        clearTimeout(timer)
        waiting.delete(id)
        end(value)
      }
      waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
      send({ id, method, params })
    })
  const request = async (method, params) => (await exchange(method, params)).result
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'shopper', version: '1.0.0' },
  })
  send({ method: 'notifications/initialized' })
  return {
    exchange,
    request,
    call: async (name, given) =>
      (await request('tools/call', { name, arguments: given }))?.structuredContent ?? {},
    end: () => child.stdin.end(),
    kill: () => child.kill('SIGKILL'),
  }
}

function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

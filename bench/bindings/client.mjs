// A client that speaks JSON-RPC on a child's pipes, and notes of every value that it sends whether it carried it over.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

class Carried {
  constructor(value) {
    this.value = value
  }
}

/** Marks a value that was made from an earlier answer. */
export const carried = (value) => new Carried(value)

/** Runs a session against a command; resolves with the truth about every value that was sent. */
export async function runSession(command, session) {
  const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.method !== undefined) return
    waiting.get(message.id)?.(message)
  })
  const labels = []
  let id = 0
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const request = (method, params = {}) => {
    const own = id++
    labels.push(...labelsIn(params, ['params']).map((label) => ({ request: own, ...label })))
    send({ id: own, method, params: plain(params) })
    return new Promise((resolve, reject) => {
      waiting.set(own, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)))
    })
  }
  const call = (name, args) => request('tools/call', { name, arguments: args })
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'truth', version: '1' },
  })
  send({ method: 'notifications/initialized' })
  await session({ request, call })
  child.stdin.end()
  await new Promise((resolve) => child.on('close', resolve))
  return labels.filter(({ request: own }) => own > 0)
}

/** One label for each value in the order of the text; the name of an answer to a round of input is carried over too. */
function labelsIn(value, path) {
  if (value instanceof Carried) return [{ path, bound: true }]
  if (typeof value !== 'object' || value === null) return [{ path, bound: false }]
  return Object.entries(value).flatMap(([key, inner], index) => {
    const step = Array.isArray(value) ? Number(key) : key
    const name = path.at(-1) === 'inputResponses' ? [{ path, key: index, bound: true }] : []
    return [...name, ...labelsIn(inner, [...path, step])]
  })
}

function plain(value) {
  if (value instanceof Carried) return value.value
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

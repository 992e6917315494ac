// An MCP client for the attacks on held messages. It makes calls through a recorder, and says on stdout what became of each of them.
// Its argument is JSON: `command` starts a recorder over stdio, or `target` is the HTTP address of one. Half of the calls want progress.
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const CALLS = 24
const PAUSE_MS = 15
/** A call without a response is given up. Only a call that the user dropped may need that, also on a busy machine. */
const PATIENCE_MS = 10_000

const { command, target } = JSON.parse(process.argv[2])
const open = new Map()
process.stdout.on('error', () => {})
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const send = command === undefined ? overHttp() : overStdio()
for (let id = 1; id <= CALLS; id++) {
  const name = id % 3 === 0 ? 'free' : 'held'
  const meta = id % 2 === 0 ? { _meta: { progressToken: id } } : {}
  const params = { name, arguments: { city: 'Oslo' }, ...meta, stream: id % 4 === 0 }
  say({ sent: id })
  const timer = setTimeout(() => settle(id, { failed: id, why: 'no response' }), PATIENCE_MS)
  open.set(id, timer)
  send({ jsonrpc: '2.0', id, method: 'tools/call', params })
  await sleep(PAUSE_MS)
}
while (open.size > 0) await sleep(10)
say({ done: true })
process.exit(0)

function settle(id, line) {
  if (!open.has(id)) return
  clearTimeout(open.get(id))
  open.delete(id)
  say(line)
}

function settleAll(why) {
  for (const id of open.keys()) settle(id, { failed: id, why })
}

function receive(text) {
  const message = parsed(text)
  if (message?.id === undefined || message.method !== undefined) return
  settle(message.id, { got: message.id, text })
}

function overStdio() {
  const [file, ...args] = command
  const recorder = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  say({ recorder: recorder.pid })
  createInterface({ input: recorder.stdout }).on('line', receive)
  recorder.stdin.on('error', () => {})
  recorder.on('close', () => {
    settleAll('the server is gone')
    say({ closed: true })
    process.exit(0)
  })
  return (message) => recorder.stdin.write(`${JSON.stringify(message)}\n`)
}

function overHttp() {
  const agent = new Agent({ keepAlive: true })
  return (message) => {
    const { id } = message
    const fail = ({ message: why }) => settle(id, { failed: id, why })
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...target.headers,
    }
    const req = request({ ...target, method: 'POST', agent, headers }, (res) => {
      let body = ''
      res.setEncoding('utf8').on('data', (chunk) => (body += chunk))
      res.on('error', fail)
      res.on('end', () => {
        for (const line of body.split('\n')) receive(line.replace(/^data: /, ''))
        settle(id, { failed: id, why: `status ${res.statusCode}: ${body.slice(0, 200)}` })
      })
    })
    req.on('error', fail)
    req.end(JSON.stringify(message))
  }
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Kills the recorder with SIGKILL while messages are under way, and compares what its client received with what is on the tape.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../run.mjs'

const REELAY = join(root, 'dist', 'cli', 'main.js')
const SERVER = join(root, 'scripts', 'attack', 'marking-server.mjs')
const KILLS_PER_DOOR = 500

/** What is under way when the recorder is killed. `upTo` is the largest number of messages before the kill. */
const LOADS = {
  '1 in flight': { inFlight: 1, upTo: 60, params: () => ({}) },
  '8 in flight': { inFlight: 8, upTo: 400, params: () => ({ size: 100 }) },
  '64 in flight': { inFlight: 64, upTo: 800, params: () => ({ size: 100 }) },
  'bursts of 200': { inFlight: 200, isBurst: true, upTo: 600, params: () => ({ size: 100 }) },
  'up to 300 kB': { inFlight: 4, upTo: 40, params: () => ({ size: Math.random() * 300_000 }) },
  'with secrets': { inFlight: 8, upTo: 150, params: () => ({ size: 100, secret: true }) },
}

const DOORS = { stdio: overStdio, url: overUrl, bridge: overBridge, forward: overForward }

/** `--only` selects a door. */
export async function run({ only = '', kills = KILLS_PER_DOOR } = {}) {
  console.log('SIGKILL of the recorder: messages that the client received, and that are not on the tape\n')
  console.log(row('door, load', ['kills', 'received', 'lost', 'kills with loss', 'do not open']))
  let failures = 0
  for (const door of Object.keys(DOORS).filter((name) => name.includes(only)))
    for (const load of Object.keys(LOADS)) {
      const share = Math.ceil(kills / Object.keys(LOADS).length)
      const counts = await killRounds(door, load, share)
      failures += counts.lost + counts.unopened
      const { rounds, received, lost, lossy, unopened } = counts
      console.log(row(`${door}, ${load}`, [rounds, received, lost, lossy, unopened]))
    }
  return failures
}

function row(name, cells) {
  return name.padEnd(28) + cells.map((cell) => String(cell).padStart(16)).join('')
}

/** Kills the recorder again and again, each time at another moment. */
export async function killRounds(door, load, rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-kill-'))
  const server = await startHttpServer()
  const counts = { rounds, received: 0, lost: 0, lossy: 0, unopened: 0 }
  try {
    for (let round = 0; round < rounds; round++) {
      const tape = join(folder, `${round}.tape.jsonl`)
      const received = await DOORS[door]({ tape, folder, port: server.port, ...LOADS[load] })
      const missing = await missingOn(tape, received)
      counts.received += received.size
      if (missing === undefined) counts.unopened++
      counts.lost += missing ?? received.size
      if ((missing ?? 0) > 0) counts.lossy++
      rmSync(tape, { force: true })
    }
  } finally {
    server.child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  return counts
}

async function startHttpServer() {
  const child = spawn(process.execPath, [SERVER, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [chunk] = await once(child.stdout, 'data')
  return { child, port: Number(chunk) }
}

/** Returns how many marks are not on the tape, or undefined if the tape does not open. */
async function missingOn(tape, received) {
  const { loadTape } = await import(pathToFileURL(join(root, 'dist', 'store', 'file', 'read.js')).href)
  try {
    await loadTape(tape)
  } catch {
    return undefined
  }
  const taped = new Set(marksIn(readFileSync(tape, 'utf8')))
  return [...received].filter((mark) => !taped.has(mark)).length
}

function marksIn(text) {
  return text.match(/"mark":"m\d+"/g) ?? []
}

function startRecorder({ tape, folder }, args) {
  const env = { ...process.env, REELAY_HOME: folder }
  const child = spawn(process.execPath, [REELAY, 'record', '-o', tape, ...args], { env })
  child.stdin.on('error', () => {})
  return child
}

function overStdio(round) {
  return killOverPipes(startRecorder(round, ['-q', '--', process.execPath, SERVER]), round)
}

function overBridge(round) {
  const url = `http://127.0.0.1:${round.port}/mcp`
  return killOverPipes(startRecorder(round, ['-q', '--bridge', '--url', url]), round)
}

/** Returns the marks that the client received. */
async function killOverPipes(child, round) {
  const load = new Load(round)
  child.stderr.resume()
  const send = () =>
    child.stdin.write(
      load
        .next()
        .map((body) => `${body}\n`)
        .join(''),
    )
  let rest = ''
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    load.received(lines.join('\n'), lines.length)
    if (load.isDone) child.kill('SIGKILL')
    else send()
  })
  send()
  await once(child, 'close')
  return load.marks
}

async function overUrl(round) {
  const child = startRecorder(round, ['--url', `http://127.0.0.1:${round.port}/mcp`])
  const address = new URL(await said(child, /client: (\S+)/))
  return killOverHttp(child, round, { host: address.hostname, port: address.port, path: address.pathname })
}

async function overForward(round) {
  const child = startRecorder(round, ['--forward', '--listen', '127.0.0.1:0'])
  const proxy = new URL(await said(child, /http_proxy=(\S+)/i))
  const { username, password } = proxy
  const auth = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
    'base64',
  )
  return killOverHttp(child, round, {
    host: proxy.hostname,
    port: proxy.port,
    path: `http://127.0.0.1:${round.port}/mcp`,
    headers: {
      Host: `127.0.0.1:${round.port}`,
      ...(username !== '' && { 'Proxy-Authorization': `Basic ${auth}` }),
    },
  })
}

/** Resolves with what the recorder prints on stderr. */
function said(child, pattern) {
  let all = ''
  return new Promise((found, lost) => {
    child.stderr.on('data', (chunk) => {
      all += chunk
      const match = pattern.exec(all)
      if (match !== null) found(match[1])
    })
    child.once('close', () => lost(new Error(`the recorder ended: ${all}`)))
  })
}

async function killOverHttp(child, round, target) {
  const load = new Load(round)
  const agent = new Agent({ keepAlive: true })
  const closed = once(child, 'close')
  const send = () => load.next().forEach(post)
  const take = (text, responses) => {
    load.received(text, responses)
    if (load.isDone) child.kill('SIGKILL')
    else if (responses > 0) send()
  }
  const post = (body) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      ...target.headers,
    }
    const req = request({ ...target, method: 'POST', agent, headers }, (res) => {
      let all = ''
      const isStream = String(res.headers['content-type']).includes('event-stream')
      res.on('data', (chunk) => {
        all += chunk
        const events = isStream ? all.split('\n\n') : []
        all = isStream ? events.pop() : all
        if (events.length > 0)
          take(events.join(''), events.some((event) => event.startsWith('event:')) ? 1 : 0)
      })
      res.on('end', () => isStream || take(all, 1))
      res.on('error', () => {})
    })
    req.on('error', () => {})
    req.end(body)
  }
  send()
  await closed
  await new Promise((resolve) => setTimeout(resolve, 20)) // for what is still in the sockets
  agent.destroy()
  return load.marks
}

/** What a client sends and has received in one round. */
class Load {
  marks = new Set()
  #options
  #killAt
  #ids = 0
  #open = 0

  constructor(options) {
    this.#options = options
    this.#killAt = 1 + Math.floor(Math.random() * options.upTo)
  }

  get isDone() {
    return this.marks.size >= this.#killAt
  }

  /** The requests that may be sent now. A burst is sent when the one before it is answered. */
  next() {
    const { inFlight, isBurst, params } = this.#options
    if (isBurst && this.#open > 0) return []
    const count = inFlight - this.#open
    this.#open = inFlight
    return Array.from({ length: count }, () => {
      const id = ++this.#ids
      return JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { ...params(), stream: id % 2 === 0 },
      })
    })
  }

  received(text, responses) {
    for (const mark of marksIn(text)) this.marks.add(mark)
    this.#open -= responses
  }
}

// Runs `serve --http`, `record` and `record --url` for a long time at a steady rate, and prints how much memory they use. With
// --minutes 60 this is the figure in docs/security.md.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { echoServer, recordedTape, startReelay } from './targets.mjs'

const REQUESTS_PER_SESSION = 20
const CALLS_PER_SECRET = 5
const SAMPLES = 12
/** Memory may still be growing to its working size in the first part of a run. */
const WARM_UP = 1 / 4
const MAX_GROWTH_MB = 10

export async function run({ minutes = 10, rate = 150 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-soak-'))
  const upstream = await echoServer()
  const tape = await recordedTape(folder, upstream.url)
  const runs = [
    await serveHttp(folder, tape),
    await recordStdio(folder),
    await recordUrl(folder, upstream.url),
  ]
  try {
    console.log(`soak: ${minutes} minutes, ${rate} requests a second for each program; memory (RSS) in MB\n`)
    return await soak(runs, { minutes, rate })
  } finally {
    await Promise.all(runs.map(({ program }) => program.stop()))
    upstream.close()
    rmSync(folder, { recursive: true })
  }
}

async function soak(runs, { minutes, rate }) {
  const end = Date.now() + minutes * 60_000
  const load = runs.map((each) => keepAsking(each, rate, end))
  const step = (minutes * 60_000) / SAMPLES
  for (let sample = 0; sample < SAMPLES; sample++) {
    await sleep(step)
    for (const each of runs) each.samples.push(usageOf(each.program.pid))
  }
  await Promise.all(load)
  let failures = 0
  for (const { name, counts, samples } of runs) {
    const memory = samples.map(({ rss }) => rss)
    const settled = memory.slice(Math.ceil(SAMPLES * WARM_UP))
    const growth = settled.at(-1) - settled[0]
    const hasFailed = growth > MAX_GROWTH_MB || counts.wrong > 0
    if (hasFailed) failures++
    console.log(
      `${name}: ${counts.sent} requests, ${counts.wrong} wrong answers${hasFailed ? '  FAILED' : ''}`,
    )
    if (counts.errors.size > 0) console.log(`  errors ${[...counts.errors].join(', ')}`)
    console.log(`  RSS ${memory.map((rss) => rss.toFixed(0)).join(' ')}`)
    console.log(`  open files ${samples.map(({ files }) => files).join(' ')}`)
  }
  console.log(`\n${runs.length} programs tried, ${failures} failed`)
  return failures
}

/** Sends bursts of a tenth of a second, so that the rate is kept on a busy machine. */
async function keepAsking({ ask, counts }, rate, end) {
  const start = Date.now()
  const open = new Set()
  while (Date.now() < end) {
    const due = Math.floor(((Date.now() - start) / 1000) * rate) - counts.sent
    for (let n = 0; n < Math.min(due, rate - open.size); n++) {
      counts.sent++
      const asked = countAnswer(ask, counts).finally(() => open.delete(asked))
      open.add(asked)
    }
    await sleep(100)
  }
  await Promise.all(open)
}

async function countAnswer(ask, counts) {
  const isRight = await ask().catch((error) => {
    counts.errors.add(`${new Date().toISOString().slice(11, 19)} ${error.code ?? error.message}`)
    return false
  })
  if (!isRight) counts.wrong++
}

function usageOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  return { rss, files: readdirSync(`/proc/${pid}/fd`).length }
}

/** Sessions are never ended by their clients. */
async function serveHttp(folder, tape) {
  const program = await startReelay(['serve', tape, '--http', '--leftovers', 'note', '--permissive'], folder)
  const { url } = program
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  let session = newSession(url, agent)
  let left = REQUESTS_PER_SESSION
  const ask = async () => {
    if (left-- <= 0) {
      session = newSession(url, agent)
      left = REQUESTS_PER_SESSION
    }
    const id = await session
    const { status } = await post(url, agent, nextCall(), { 'Mcp-Session-Id': id })
    return isOk(status)
  }
  return { name: 'serve --http', program, ask, ...empty() }
}

function isOk(status) {
  if (status !== 200) throw new Error(`status ${status}`)
  return true
}

async function newSession(url, agent) {
  const { headers } = await post(url, agent, INITIALIZE)
  return headers['mcp-session-id'] ?? ''
}

async function recordUrl(folder, upstream) {
  const args = ['record', '--url', upstream, '-o', join(folder, 'url.tape.jsonl'), '--max-size', '1000']
  const program = await startReelay(args, folder)
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const ask = async () => isOk((await post(program.url, agent, nextCall())).status)
  return { name: 'record --url', program, ask, ...empty() }
}

async function recordStdio(folder) {
  const server = ['-e', "process.stdin.on('data', (d) => process.stdout.write(d))"]
  const args = ['record', '-o', join(folder, 'stdio.tape.jsonl'), '--', process.execPath, ...server]
  const program = await startReelay(args, folder, 'recording to')
  const waiting = []
  let rest = ''
  program.child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) waiting.shift()?.(line.includes('"params"'))
  })
  const ask = () => {
    program.child.stdin.write(`${nextCall()}\n`)
    return new Promise((resolve) => waiting.push(resolve))
  }
  return { name: 'record (stdio)', program, ask, ...empty() }
}

function empty() {
  return { counts: { sent: 0, wrong: 0, errors: new Set() }, samples: [] }
}

let calls = 0

/** A call of a tool. Every fifth one has a secret that was never seen before. */
function nextCall() {
  const secret = calls++ % CALLS_PER_SECRET === 0 ? `, and ghp_${randomBytes(18).toString('hex')}` : ''
  const params = { name: 'echo', arguments: { text: 'x'.repeat(200) + secret } }
  return JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })
}
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'soak', version: '1' } },
})

function post(url, agent, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const req = request(
      url,
      {
        method: 'POST',
        agent,
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'Content-Length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (res) => {
        res.resume()
        res.on('end', () => resolve({ status: res.statusCode, headers: res.headers }))
      },
    )
    req.on('error', (error) => {
      // The listener closes idle connections after the time that it announces, which an agent of Node does not heed by default. A
      // client that uses one at that moment has to send the request again.
      const wasClosed = req.reusedSocket && error.code === 'ECONNRESET'
      if (wasClosed) resolve(post(url, agent, body, headers))
      else reject(error)
    })
    req.end(body)
  })
}

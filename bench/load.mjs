// Load with recorded sessions: closed loop beside autocannon, wrk and the official client; the schedule of an open loop; a stalled server.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPrograms } from '../scripts/run.mjs'
import { compile, goal, here, median, reelay, scratch } from './measure.mjs'

const MS = 3000
const CALLS_PER_SESSION = 1000

export async function load({ rounds }) {
  return [...(await closedLoop(Math.min(rounds, 3))), ...(await openLoop()), ...(await stallExperiment())]
}

async function closedLoop(rounds) {
  installPrograms(['wrk'])
  const server = spawn(compile('trivial-http', 'load'), ['spin'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = `http://127.0.0.1:${String(await once(server.stdout, 'data')).trim()}/mcp`
  const tape = writeTape('load-closed', CALLS_PER_SESSION)
  const variants = {
    'reelay load': (users) => reelayRate(tape, url, users),
    wrk: async (users) => wrkRate(url, users),
    autocannon: async (users) => Number(await runScript('autocannon', url, users)),
    'official client': async (users) => Number(await runScript('official-client', url, users)),
  }
  console.log('\nload, closed loop beside others at the same trivial server in C; one thread each, calls/s')
  const met = []
  try {
    for (const users of [1, 10, 100, 1000]) {
      const rates = {}
      for (const [name, measure] of Object.entries(variants)) {
        const runs = []
        for (let round = 0; round < rounds; round++) runs.push(await measure(users))
        rates[name] = median(runs)
      }
      const shown = Object.entries(rates).map(([name, rate]) => `${name} ${Math.round(rate)}`)
      console.log(`  ${String(users).padStart(4)} users: ${shown.join(', ')}`)
      const ours = rates['reelay load']
      if (users > 1) {
        met.push(goal(`${users} users, beside autocannon`, ours / rates.autocannon, 1.2, 'at least'))
        met.push(goal(`${users} users, beside wrk`, ours / rates.wrk, 0.7, 'at least'))
      }
      met.push(
        goal(`${users} users, beside the official client`, ours / rates['official client'], 20, 'at least'),
      )
    }
  } finally {
    server.kill()
  }
  return met
}

/** Calls of the seconds in which all users play; every response was parsed, and its id and result were checked. */
async function reelayRate(tape, url, users) {
  const csv = join(scratch, 'load.csv')
  const seconds = users >= 1000 ? 10 : 5 // the users have to connect first
  await runReelay(
    [tape, '--users', users, '--for', `${seconds}s`, '--threads', 1, '--grace', 0, '--csv', csv, ...FAST],
    url,
  )
  const rows = readFileSync(csv, 'utf8').trim().split('\n').slice(1)
  const rates = rows.map((row) => row.split(',').map(Number))
  const last = rates.slice(-MS / 1000 - 1, -1)
  return median(last.map(([, , , , , calls]) => calls))
}

const FAST = ['--calibrate', 0, '--think', 'none']

async function wrkRate(url, users) {
  const words = ['-t1', `-c${users}`, `-d${MS / 1000}`, '-s', join(here, 'load', 'post.lua'), url]
  const { stdout } = await promisify(execFile)('wrk', words)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)[1])
}

async function runScript(name, url, users) {
  const words = [join(here, 'load', `${name}.mjs`), url, String(users), String(MS)]
  return (await promisify(execFile)(process.execPath, words)).stdout
}

async function runReelay(words, url) {
  const args = [reelay, 'load', ...words.map(String), '--url', url, '--json']
  const run = promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 })
  return JSON.parse((await run).stdout)
}

/** 1,000 sessions a second of one call: how late are they sent, and what does it cost? */
async function openLoop() {
  const server = spawn(compile('trivial-http', 'load'), [], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = `http://127.0.0.1:${String(await once(server.stdout, 'data')).trim()}/mcp`
  const tape = writeTape('load-open', 100, { gap: 5 })
  try {
    console.log(
      '\nload, open loop: 10 sessions a second of 100 calls with pauses of 5 ms, 1,000 calls a second',
    )
    const { all, generator } = await runReelay(
      [tape, '--rate', 10, '--for', '10s', '--threads', 1, '--calibrate', 0, '--arrivals', 'random'],
      url,
    )
    return [
      goal('sent late by, p99 in ms', all.lag['p99'], 0.3, 'at most'),
      goal('share of a core', generator.busy, 0.1, 'at most'),
    ]
  } finally {
    server.kill()
  }
}

const SESSIONS_PER_SECOND = 20
const STALL_AT = 15_000
const STALL_MS = 2000
const RUN_MS = 30_000
const THINK_MS = 900

/** The server stands still once for two seconds. What users suffer is simulated, and compared with what the report says. */
async function stallExperiment() {
  console.log('\nload, stall experiment: 20 sessions/s of 10 dependent calls of 10 ms, one stall of 2 s')
  const met = []
  for (const model of ['open', 'closed']) {
    const pause = model === 'open' ? 0 : THINK_MS
    const tape = writeTape(`load-stall-${model}`, 10, { pause })
    const server = spawn(process.execPath, [join(here, 'load', 'stall-server.mjs')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const url = `http://127.0.0.1:${String(await once(server.stdout, 'data')).trim()}/mcp`
    // The users come one after the other in the first second: if all were at the same call, its moment in the stall would decide.
    const seconds = RUN_MS / 1000
    const level =
      model === 'open'
        ? ['--rate', SESSIONS_PER_SECOND, '--for', `${seconds}s`]
        : [
            '--users',
            SESSIONS_PER_SECOND,
            '--stages',
            `1s:${SESSIONS_PER_SECOND},${seconds - 1}s:${SESSIONS_PER_SECOND}`,
          ]
    const run = runReelay([tape, ...level, '--threads', 1], url)
    setTimeout(() => server.stdin.write('stall\n'), STALL_AT)
    const { calls } = await run
    server.kill()
    const { service, response } = calls.echo
    const truth = simulatedP99(model, service.p50)
    console.log(
      `  ${model} model: response time p99 ${response.p99.toFixed(0)} ms, simulated ${truth.toFixed(0)} ms; service time p99 ${service.p99.toFixed(1)} ms`,
    )
    met.push(
      goal(
        `${model} model, off the simulated truth by %`,
        (100 * Math.abs(response.p99 - truth)) / truth,
        5,
        'at most',
      ),
    )
    met.push(
      goal(
        `${model} model, service time p99 in ms`,
        service.p99,
        model === 'open' ? 15 : Infinity,
        'at most',
      ),
    )
  }
  return met
}

/** Plays the sessions on paper: a call that is open during the stall ends after it. */
function simulatedP99(model, callMs) {
  const stallEnd = STALL_AT + STALL_MS
  const times = []
  const play = (start) => {
    let [now, intended] = [start, start]
    for (let call = 0; call < 10; call++) {
      const end = now + callMs > STALL_AT && now + callMs < stallEnd ? stallEnd : now + callMs
      times.push(end - intended)
      intended += callMs
      now = end
    }
    return now
  }
  const gap = 1000 / SESSIONS_PER_SECOND
  if (model === 'open') for (let start = 0; start < RUN_MS; start += gap) play(start)
  else
    for (let user = 0; user < SESSIONS_PER_SECOND; user++)
      for (let now = user * gap; now < RUN_MS;) now = play(now + THINK_MS)
  times.sort((a, b) => a - b)
  return times[Math.ceil(times.length * 0.99) - 1]
}

/** A session of calls after a pause, and with gaps between them. */
function writeTape(name, calls, { pause = 0, gap = 0 } = {}) {
  const info = { name: 'bench', version: '1' }
  const messages = [
    [
      0,
      'c2s',
      {
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: info },
      },
    ],
    [
      0,
      's2c',
      { id: 0, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: info } },
    ],
    [0, 'c2s', { method: 'notifications/initialized' }],
  ]
  for (let id = 1; id <= calls; id++)
    messages.push(
      [
        pause + gap * id,
        'c2s',
        { id, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } },
      ],
      [pause + gap * id, 's2c', { id, result: { content: [{ type: 'text', text: 'hello' }] } }],
    )
  const servers = { trivial: { transport: 'http', url: 'http://127.0.0.1/mcp' } }
  const header = {
    reelay: 1,
    id: 'bench',
    started: '2026-11-18T00:00:00.000Z',
    by: 'bench',
    servers,
    tags: {},
  }
  const frames = messages.map(([t, dir, msg], at) => ({
    n: at + 1,
    t,
    server: 'trivial',
    conn: 1,
    dir,
    msg: { jsonrpc: '2.0', ...msg },
  }))
  const n = frames.length + 1
  const lines = [header, ...frames, { n, t: pause, event: 'end', frames: n }]
  const path = join(scratch, `${name}.tape.jsonl`)
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

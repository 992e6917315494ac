// Load with recorded sessions: closed loop beside autocannon, wrk and the official client; the schedule of an open loop; a stalled server.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { promisify } from 'node:util'
import { installPrograms } from '../scripts/run.mjs'
import { compile, goal, here, interleave, median, reelay, scratch } from './measure.mjs'

const MS = 3000
/** Sessions that are longer than the run, because the other clients never connect again either. */
const CALLS_PER_SESSION = { 1: 20_000, 10: 20_000, 100: 5000, 1000: 1000 }

export async function load({ rounds }) {
  const met = []
  // A server that sleeps leaves the time in which it waits to the second thread of the generator.
  for (const [threads, words] of [
    [1, ['spin']],
    [2, []],
  ])
    met.push(...(await closedLoop(Math.min(rounds, 3), { threads, words })))
  return [...met, ...(await openLoop())]
}

async function closedLoop(rounds, { threads, words }) {
  installPrograms(['wrk'])
  const server = spawn(compile('trivial-http', 'load'), words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = `http://127.0.0.1:${String(await once(server.stdout, 'data')).trim()}/mcp`
  const others = {
    'thinnest Node client': async (users) => Number(await runScript('thinnest', url, users)),
    'official client': async (users) => Number(await runScript('official-client', url, users)),
  }
  const variants = {
    'reelay load': (users) =>
      reelayRate(writeTape(`load-closed-${users}`, CALLS_PER_SESSION[users]), { url, users, threads }),
    wrk: async (users) => wrkRate(url, users, threads),
    autocannon: async (users) => Number(await runScript('autocannon', url, users, threads)),
    ...(threads === 1 && others),
  }
  console.log(
    `\nload, closed loop beside others at the same trivial server in C; threads of each: ${threads}, calls/s`,
  )
  const met = []
  try {
    for (const users of threads === 1 ? [1, 10, 100, 1000] : [10, 100, 1000]) {
      const runs = await interleave(rounds, variants, (measure) => measure(users))
      const rates = Object.fromEntries(Object.entries(runs).map(([name, each]) => [name, median(each)]))
      const shown = Object.entries(rates).map(([name, rate]) => `${name} ${Math.round(rate)}`)
      console.log(`  ${String(users).padStart(4)} users: ${shown.join(', ')}`)
      const ours = rates['reelay load']
      if (users > 1) {
        met.push(goal(`${users} users, beside autocannon`, ours / rates.autocannon, 1.2, 'at least'))
        met.push(goal(`${users} users, beside wrk`, ours / rates.wrk, 0.7, 'at least'))
      }
      if (threads === 1)
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
async function reelayRate(tape, { url, users, threads }) {
  const csv = join(scratch, 'load.csv')
  const seconds = users >= 1000 ? 10 : 5 // the users have to connect first
  await runReelay(
    [
      tape,
      '--users',
      users,
      '--for',
      `${seconds}s`,
      '--threads',
      threads,
      '--grace',
      0,
      '--csv',
      csv,
      ...FAST,
    ],
    url,
  )
  const rows = readFileSync(csv, 'utf8').trim().split('\n').slice(1)
  const rates = rows.map((row) => row.split(',').map(Number)).filter(([at]) => at <= seconds + 0.5)
  const last = rates.slice(-MS / 1000 - 1, -1)
  return median(last.map(([, , , , , calls]) => calls))
}

const FAST = ['--calibrate', 0, '--think', 'none']

async function wrkRate(url, users, threads) {
  const words = [`-t${threads}`, `-c${users}`, `-d${MS / 1000}`, '-s', join(here, 'load', 'post.lua'), url]
  const { stdout } = await promisify(execFile)('wrk', words)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)[1])
}

async function runScript(name, url, users, ...more) {
  const words = [join(here, 'load', `${name}.mjs`), url, String(users), String(MS), ...more.map(String)]
  return (await promisify(execFile)(process.execPath, words)).stdout
}

async function runReelay(words, url, watch = () => {}) {
  const args = [reelay, 'load', ...words.map(String), '--url', url, '--json']
  const run = promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 })
  watch(run.child)
  return JSON.parse((await run).stdout)
}

/** The share of a core that all threads of a process use, from 3 to 9 seconds after its start. It is read from Linux. */
async function shareOfCore({ pid }) {
  const seconds = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  }
  await after(3000)
  const [before, from] = [seconds(), performance.now()]
  await after(6000)
  return (seconds() - before) / ((performance.now() - from) / 1000)
}

const TICKS_PER_SECOND = 100

/** How late are 1,000 calls a second sent, and what does it cost? The timer alone, with bare sockets, stands beside it. */
async function openLoop() {
  const server = spawn(compile('trivial-http', 'load'), [], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = `http://127.0.0.1:${String(await once(server.stdout, 'data')).trim()}/mcp`
  const tape = writeTape('load-open', 100, { gap: 5 })
  try {
    console.log(
      '\nload, open loop: 10 sessions a second of 100 calls with pauses of 5 ms, 1,000 calls a second',
    )
    const thinnest = JSON.parse(await runScript('thinnest-schedule', url, 20))
    console.log(
      `  the timer alone, with bare sockets: p50 ${thinnest.p50.toFixed(2)} ms, p99 ${thinnest.p99.toFixed(2)} ms, ${thinnest.busy.toFixed(2)} of a core`,
    )
    let share = Promise.resolve(NaN)
    const { all } = await runReelay(
      [tape, '--rate', 10, '--for', '10s', '--threads', 1, '--arrivals', 'random'],
      url,
      (child) => void (share = shareOfCore(child)),
    )
    console.log(`  reelay load: p50 ${all.lag.p50.toFixed(2)} ms, p95 ${all.lag.p95.toFixed(2)} ms`)
    return [
      goal('sent late by, p99 in ms', all.lag['p99'], 0.3, 'at most'),
      goal('share of a core', await share, 0.1, 'at most'),
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
export async function loadStall() {
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

const KILLED_RUN = ['--rate', 40, '--for', '20s', '--calibrate', 0, '--think', 'none', '--grace', '30s']

/** Three workers, of which one is killed, measure the same as one process. One call in fifty takes half a second. */
export async function loadWorkers() {
  installPrograms(['redis-server'])
  console.log('\nload, three workers with one killed: 40 sessions/s of 10 calls for 20 s')
  const started = []
  const launch = (file, args, stdio) => {
    const child = spawn(file, args.map(String), { stdio })
    started.push(child)
    return child
  }
  const tape = writeTape('load-workers', 10)
  const serve = async () => {
    const server = launch(
      process.execPath,
      [join(here, 'load', 'stall-server.mjs'), 50, 500],
      ['pipe', 'pipe', 'inherit'],
    )
    return `http://127.0.0.1:${String(await once(server.stdout, 'data')).trim()}/mcp`
  }
  try {
    const alone = await runReelay([tape, ...KILLED_RUN, '--threads', 1], await serve())
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const redis = `redis://127.0.0.1:${port}`
    const store = launch(
      'redis-server',
      ['--port', port, '--bind', '127.0.0.1', '--save', ''],
      ['ignore', 'pipe', 'inherit'],
    )
    await heard(store.stdout, 'Ready to accept connections')
    const workers = [1, 2, 3].map(() => {
      const worker = launch(process.execPath, [reelay, 'worker', redis], ['ignore', 'ignore', 'pipe'])
      return { worker, waits: heard(worker.stderr, 'waits at') }
    })
    await Promise.all(workers.map(({ waits }) => waits))
    const shared = runReelay([tape, ...KILLED_RUN, '--workers', redis, '--expect-workers', 3], await serve())
    setTimeout(() => workers[0].worker.kill('SIGKILL'), 12_000)
    const { sessions, calls, workers: summary } = await shared
    const [p999, expected] = [calls.echo, alone.calls.echo].map(({ service }) => service['p99.9'])
    const gap = Math.max(0, ...summary.takeovers.map((each) => each.gap)) / 1000
    console.log(
      `  ${calls.echo.calls} calls of ${sessions.done} sessions, alone ${alone.calls.echo.calls} of ${alone.sessions.done}; p99.9 ${p999.toFixed(1)} ms, alone ${expected.toFixed(1)} ms; ${summary.takeovers.length} take-over`,
    )
    const missing = Math.abs(calls.echo.calls - alone.calls.echo.calls)
    return [
      goal('calls more or fewer than alone', missing, 0, 'at most'),
      goal('p99.9 off that of one process by %', (100 * Math.abs(p999 - expected)) / expected, 1, 'at most'),
      goal('take-over after s', summary.takeovers.length === 0 ? Infinity : gap, 5, 'at most'),
    ]
  } finally {
    for (const child of started) child.kill('SIGKILL')
  }
}

/** Resolves when a stream has said this, and reads on. */
function heard(stream, text) {
  return new Promise((resolve) => {
    let said = ''
    stream.setEncoding('utf8').on('data', (more) => {
      said = (said + more).slice(-10_000)
      if (said.includes(text)) resolve()
    })
  })
}

/** A session of calls after a pause, and with gaps between them. */
export function writeTape(name, calls, { pause = 0, gap = 0 } = {}) {
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

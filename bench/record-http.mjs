// The recorder in front of an HTTP server, against no proxy and against the thinnest one.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { goal, here, interleave, median, reelay, scratch } from './measure.mjs'

const run = promisify(execFile)
const node = process.execPath
const program = (name) => join(here, 'http', `${name}.mjs`)

/** `subcommand` is the one of Reelay that stands between client and server. */
export async function recordHttp({ rounds, subcommand = ['record', '-q', '--numbered'] }) {
  const started = []
  try {
    const direct = await start(started, [program('server')])
    const pass = await start(started, [program('pass'), direct])
    const variants = { direct, pass, reelay: await startReelay(started, direct, subcommand) }
    const drive = (...args) => interleave(rounds, variants, (origin) => driveOne(origin, args))
    return [await oneByOne(drive), await manyAtOnce(drive), await events(drive)]
  } finally {
    for (const child of started) child.kill()
  }
}

async function oneByOne(drive) {
  console.log('\none call at a time over HTTP, 200 B')
  const results = await drive('calls', 1500, 1)
  print(results, 'p50', 'p50 µs')
  console.log(`  the thinnest proxy adds ${(share(results, 'p50', 'pass') - 1).toFixed(2)} of one direct hop`)
  return goal('added p50 as a share of one direct hop', share(results, 'p50') - 1, 1, 'at most')
}

async function manyAtOnce(drive) {
  console.log('\n64 calls at once over HTTP, 200 B')
  const results = await drive('calls', 6000, 64)
  print(results, 'cps', 'calls/s')
  return goal('calls/s beside direct', share(results, 'cps'), 0.5, 'at least')
}

async function events(drive) {
  console.log('\nserver-sent events, 1 ms apart')
  const results = await drive('events')
  print(results, 'p50', 'p50 µs')
  return goal('added delay of an event as a share of one direct hop', share(results, 'p50') - 1, 1, 'at most')
}

async function driveOne(origin, [kind, ...rest]) {
  const { stdout } = await run(node, [program('driver'), kind, origin, ...rest.map(String)], {
    timeout: 120_000,
  })
  return JSON.parse(stdout)
}

function share(results, field, name = 'reelay') {
  return median(results[name].map((one, round) => one[field] / results.direct[round][field]))
}

async function start(started, args) {
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  const [line] = await once(child.stdout, 'data')
  return line.toString().trim()
}

async function startReelay(started, origin, subcommand) {
  const tape = join(scratch, 'http.tape.jsonl')
  const child = spawn(node, [reelay, ...subcommand, '-o', tape, '--url', `${origin}/mcp`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.push(child)
  let said = ''
  const url = await new Promise((resolve) => {
    child.stderr.on('data', (text) => {
      said = (said + text).slice(-10_000)
      const [, found] = /client: (http\S+)\s/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
  })
  return new URL(url).origin
}

function print(results, field, unit) {
  const cells = Object.entries(results).map(
    ([name, runs]) => `${name} ${Math.round(median(runs.map((one) => one[field]))).toLocaleString('en')}`,
  )
  console.log(`  ${unit.padEnd(8)} ${cells.join('   ')}`)
}

// `record --intercept` with filters that match nothing, against plain `record`, on a stdio link and over HTTP.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compile, goal, here, interleave, median, reelay, scratch } from './measure.mjs'

const run = promisify(execFile)
const node = process.execPath
const SIZES = [
  { size: 200, label: '200 B', calls: 4000, piped: 300_000, posted: 6000 },
  { size: 10_000, label: '10 KB', calls: 2000, piped: 20_000, posted: 4000 },
  { size: 1_000_000, label: '1 MB', calls: 60, piped: 200, posted: 160 },
]
const FILTERS = {
  'by tool': 'tool:nothing status:error result.total > 100',
  'by text': 'no-such-text',
  'by pattern': 're:/no-such-[0-9]+/',
  'by status': 'status:error',
  'by duration': 'duration:>50s',
  'by argument': 'params.arguments.city = Oslo',
  'by result': 'result.total > 100',
  'by size': 'size:>50mb',
  'by number': '#999999999',
  'by what it is not': '-method:initialize,tools/call,notifications/initialized',
}
const MOST = 1.2

export async function interceptStdio({ rounds }) {
  const [driver, echo] = ['driver', 'echo'].map((name) => compile(name))
  const log = join(scratch, 'intercept.tape.jsonl')
  const record = [node, reelay, 'record', '-q', '--numbered', '-o', log]
  const variants = { record: [...record, '--', echo] }
  for (const [name, filter] of Object.entries(FILTERS))
    variants[name] = [...record, '--intercept', filter, '--', echo]
  const drive = (...args) =>
    interleave(rounds, variants, async (command) => {
      rmSync(log, { force: true })
      const words = [...args.map(String), ...command]
      return JSON.parse((await run(driver, words, { timeout: 120_000 })).stdout)
    })
  const met = []
  for (const { size, label, calls, piped } of SIZES) {
    met.push(...compare(`stdio, ${label}, one call`, await drive('seq', size, calls, calls / 2, 1), 'p50'))
    met.push(...compare(`stdio, ${label}, 64 at once`, await drive('pipe', size, piped, 10, 64), 'mps'))
  }
  return met
}

export async function interceptHttp({ rounds }) {
  const started = []
  const start = async (stream, args) => {
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    started.push(child)
    let said = ''
    while (!/http:\/\/127[\d.:]+\s|http:\S+\/mcp/.test(said)) said += (await once(child[stream], 'data'))[0]
    return new URL(/(?:client: |^)(http\S+)/m.exec(said)[1]).origin
  }
  try {
    const server = await start('stdout', [join(here, 'http', 'server.mjs')])
    const record = [reelay, 'record', '--numbered', '-o', join(scratch, 'intercept-http.tape.jsonl')]
    const address = ['--url', `${server}/mcp`]
    const variants = { record: await start('stderr', [...record, ...address]) }
    for (const [name, filter] of Object.entries(FILTERS))
      variants[name] = await start('stderr', [...record, '--intercept', filter, ...address])
    const met = []
    for (const { size, label, posted } of SIZES)
      for (const [kind, how] of Object.entries({ calls: 'JSON', told: 'events' })) {
        const results = await interleave(rounds, variants, async (origin) => {
          const words = [join(here, 'http', 'driver.mjs'), kind, origin, String(posted), '16', String(size)]
          return JSON.parse((await run(node, words, { timeout: 120_000 })).stdout)
        })
        met.push(...compare(`--url, ${label}, as ${how}, 16 at once`, results, 'cps'))
      }
    return met
  } finally {
    for (const child of started) child.kill()
    await Promise.all(started.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')))
  }
}

/** One call may take 1.2 times as long as with plain `record`, and there may be as many fewer calls a second. */
function compare(title, results, field) {
  console.log(`\n${title}`)
  const isTime = field === 'p50'
  const middle = (name) => Math.round(median(results[name].map((one) => one[field]))).toLocaleString('en')
  const unit = isTime ? 'µs' : 'calls/s'
  console.log(`  record ${middle('record')} ${unit}`)
  return Object.keys(FILTERS).map((name) => {
    const share = median(results[name].map((one, round) => one[field] / results.record[round][field]))
    const what = `${name}, ${middle(name)} ${unit}, beside plain record`
    return isTime ? goal(what, share, MOST, 'at most') : goal(what, share, 1 / MOST, 'at least')
  })
}

// Recording with the default redaction, against recording without it.
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compile, goal, here, interleave, median, reelay, scratch } from './measure.mjs'

const SMALL = { size: 200, label: '200 B', calls: 8000, warm: 4000, piped: 100_000 }
const MIDDLE = { size: 10_000, label: '10 KB', calls: 4000, warm: 2000, piped: 16_000 }

export async function redact({ rounds }) {
  const [driver, echo] = ['driver', 'echo'].map((name) => compile(name))
  const log = join(scratch, 'redact.tape.jsonl')
  const record = [process.execPath, reelay, 'record', '-q', '--numbered', '-o', log]
  const variants = { plain: [...record, '--no-redact', '--', echo], redacted: [...record, '--', echo] }
  const drive = (...args) =>
    interleave(rounds, variants, (command) => {
      rmSync(log, { force: true })
      return JSON.parse(
        execFileSync(driver, [...args.map(String), ...command], {
          stdio: ['ignore', 'pipe', 'ignore'],
          timeout: 120_000,
        }),
      )
    })
  return [
    await latency(drive, SMALL),
    await throughput(drive, SMALL),
    await latency(drive, MIDDLE),
    await throughput(drive, MIDDLE),
    await quickLook(),
  ]
}

async function latency(drive, { size, label, calls, warm }) {
  console.log(`\none call at a time, ${label}`)
  const { plain, redacted } = await drive('seq', size, calls, warm, 1)
  const [without, with_] = [plain, redacted].map((runs) => median(runs.map(({ p50 }) => p50)))
  console.log(`  p50 µs   --no-redact ${without.toFixed(1)}   redacted ${with_.toFixed(1)}`)
  return goal(`${label}: p50 beside --no-redact`, with_ / without, 1.1, 'at most')
}

async function throughput(drive, { size, label, piped }) {
  console.log(`\n64 calls in flight, ${label}`)
  const { plain, redacted } = await drive('pipe', size, piped, 10, 64)
  const ratios = redacted.map(({ mps }, round) => mps / plain[round].mps)
  console.log(`  calls/s   --no-redact ${median(plain.map(({ mps }) => mps)).toLocaleString('en')}`)
  return goal(`${label}: calls/s beside --no-redact`, median(ratios), 0.6, 'at least')
}

const KEY = { name: 'k-bench', hmac: (text) => createHmac('sha256', 'bench').update(text).digest() }

/** What a long result costs in which nothing is secret. */
async function quickLook() {
  const { Redactor } = await import(pathToFileURL(join(here, '..', 'dist', 'redact', 'redactor.js')).href)
  const redactor = new Redactor({ key: KEY })
  const words = 'Lorem ipsum dolor sit amet, "consectetur" adipiscing elit: 42 of 2026-11-15. '
  const result = { content: [{ type: 'text', text: words.repeat(12_500) }] }
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
  console.log(`\na result of 1 MB in which nothing is secret`)
  if (redactor.mayContainSecrets(bytes)) throw new Error('the bench needs a text without secrets')
  const parse = msOf(() => JSON.parse(bytes.toString()))
  const look = msOf(() => redactor.mayContainSecrets(bytes))
  console.log(`  ms   JSON.parse ${parse.toFixed(2)}   redaction ${look.toFixed(2)}`)
  return goal('1 MB: redaction beside its JSON.parse', look / parse, 1, 'at most')
}

function msOf(work) {
  const times = Array.from({ length: 60 }, () => {
    const began = performance.now()
    work()
    return performance.now() - began
  })
  return median(times.slice(20))
}

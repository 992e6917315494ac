// `record --intercept` with a filter that matches nothing, against plain `record`, on a stdio link.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { compile, goal, interleave, median, reelay, scratch } from './measure.mjs'

const SIZES = [
  { size: 200, label: '200 B', calls: 8000, warm: 4000, piped: 100_000 },
  { size: 10_000, label: '10 KB', calls: 4000, warm: 2000, piped: 16_000 },
  { size: 1_000_000, label: '1 MB', calls: 80, warm: 20, piped: 250 },
]
const MOST = 1.2

export async function intercept({ rounds }) {
  const [driver, echo] = ['driver', 'echo'].map(compile)
  const log = join(scratch, 'intercept.tape.jsonl')
  const record = [process.execPath, reelay, 'record', '-q', '--numbered', '-o', log]
  const variants = {
    record: [...record, '--', echo],
    intercept: [...record, '--intercept', 'tool:nothing status:error result.total > 100', '--', echo],
  }
  const drive = (...args) =>
    interleave(rounds, variants, (command) => {
      rmSync(log, { force: true })
      const words = [...args.map(String), ...command]
      return JSON.parse(
        execFileSync(driver, words, { stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 }),
      )
    })
  const met = []
  for (const { size, label, calls, warm, piped } of SIZES) {
    console.log(`\n${label}, with a filter that matches nothing`)
    const alone = await drive('seq', size, calls, warm, 1)
    met.push(goal(`${label}: time of one call beside plain record`, ratio(alone, 'p50'), MOST, 'at most'))
    const many = await drive('pipe', size, piped, 10, 64)
    met.push(goal(`${label}: calls/s beside plain record`, ratio(many, 'mps'), 1 / MOST, 'at least'))
  }
  return met
}

function ratio({ record, intercept: held }, field) {
  const unit = field === 'p50' ? 'µs' : 'calls/s'
  const middle = (runs) => Math.round(median(runs.map((run) => run[field]))).toLocaleString('en')
  console.log(`  record ${middle(record)} ${unit}, with --intercept ${middle(held)} ${unit}`)
  return median(held.map((run, round) => run[field] / record[round][field]))
}

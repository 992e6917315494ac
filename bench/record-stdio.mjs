// The recorder on a stdio link, against no recorder and against a tee written in C.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { compile, goal, interleave, median, reelay, scratch } from './measure.mjs'

const SIZES = [
  { size: 200, label: '200 B', calls: 8000, warm: 4000, piped: 100_000, share: 0.35 },
  { size: 10_000, label: '10 KB', calls: 4000, warm: 2000, piped: 16_000, share: 0.45 },
  { size: 1_000_000, label: '1 MB', calls: 80, warm: 20, piped: 250, share: 0.7 },
]

export async function recordStdio({ rounds }) {
  const [driver, echo, tee] = ['driver', 'echo', 'tee'].map(compile)
  const log = join(scratch, 'stdio.tape.jsonl')
  const variants = {
    direct: [echo],
    tee: [tee, log, echo],
    reelay: [process.execPath, reelay, 'record', '-q', '-o', log, '--', echo],
  }
  const drive =
    (pin, ...args) =>
    (command) => {
      rmSync(log, { force: true })
      const [file, ...rest] = [...pin, driver, ...args.map(String), ...command]
      return JSON.parse(execFileSync(file, rest, { stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 }))
    }
  const met = []
  for (const { size, label, calls, warm } of SIZES.slice(0, 2)) {
    console.log(`\none call at a time, ${label}, on one core (what recording costs in CPU)`)
    met.push(
      ...latency(
        await interleave(rounds, variants, drive(['taskset', '-c', '0'], 'seq', size, calls, warm, 1)),
      ),
    )
  }
  const { size, label, calls, warm } = SIZES[2]
  console.log(`\none call at a time, ${label}`)
  const large = await interleave(rounds, variants, drive([], 'seq', size, calls, warm, 1))
  print(large, ({ p50 }) => p50, 'p50 µs')
  met.push(
    goal(
      'added p50 as a share of direct',
      median(added(large, 'reelay', 'p50')) / median(large.direct.map(({ p50 }) => p50)),
      0.1,
      'at most',
    ),
  )
  for (const { size, label, piped, share } of SIZES) {
    console.log(`\n64 calls in flight, ${label}`)
    const results = await interleave(rounds, variants, drive([], 'pipe', size, piped, 10, 64))
    print(results, ({ mps }) => mps, 'calls/s')
    met.push(
      goal(
        'calls/s beside the C tee',
        median(results.reelay.map((run, i) => run.mps / results.tee[i].mps)),
        share,
        'at least',
      ),
    )
  }
  return met
}

function latency(results) {
  print(results, ({ p50 }) => p50, 'p50 µs')
  print(results, ({ p99 }) => p99, 'p99 µs')
  return [
    goal('added p50 beside the C tee', ratio(results, 'p50'), 2, 'at most'),
    goal('added p99 beside the C tee', ratio(results, 'p99'), 2.5, 'at most'),
  ]
}

const added = (results, name, field) => results[name].map((run, i) => run[field] - results.direct[i][field])
const ratio = (results, field) =>
  median(added(results, 'reelay', field)) / median(added(results, 'tee', field))

function print(results, pick, unit) {
  const cells = Object.entries(results).map(
    ([name, runs]) => `${name} ${median(runs.map(pick)).toLocaleString('en')}`,
  )
  console.log(`  ${unit.padEnd(8)} ${cells.join('   ')}`)
}

// The recorder on a stdio link, against no recorder and against a tee written in C. Neither looks for secrets: the goals are for
// `--no-redact`. What redaction adds is shown beside it, and has goals of its own (the case `redact`).
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { compile, goal, here, interleave, median, reelay, scratch } from './measure.mjs'

const SMALL = { size: 200, label: '200 B', calls: 8000, warm: 4000, piped: 100_000, share: 0.35 }
const MIDDLE = { size: 10_000, label: '10 KB', calls: 4000, warm: 2000, piped: 16_000, share: 0.45 }
const LARGE = { size: 1_000_000, label: '1 MB', calls: 80, warm: 20, piped: 250, share: 0.7 }

const RECORD = ['record', '-q', '--numbered']

/** `subcommand` is the one of Reelay that stands between client and server. */
export async function recordStdio({ rounds, subcommand = RECORD }) {
  const [driver, echo, tee] = ['driver', 'echo', 'tee'].map((name) => compile(name))
  const log = join(scratch, 'stdio.tape.jsonl')
  const variants = {
    direct: [echo],
    tee: [tee, log, echo],
    reelay: [process.execPath, reelay, ...subcommand, '--no-redact', '-o', log, '--', echo],
    redacting: [process.execPath, reelay, ...subcommand, '-o', log, '--', echo],
  }
  const pipe = { pipe: [process.execPath, join(here, 'stdio', 'pipe.mjs'), echo] }
  const driveAll = (times, commands, pin, ...args) =>
    interleave(times, commands, (command) => {
      rmSync(log, { force: true })
      const [file, ...rest] = [...pin, driver, ...args.map(String), ...command]
      return JSON.parse(execFileSync(file, rest, { stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 }))
    })
  const drive = (...args) => driveAll(rounds, variants, ...args)
  return [
    ...(await latencyOnOneCore(drive, SMALL)),
    ...(await latencyOnOneCore(drive, MIDDLE)),
    await latencyOfLarge((...args) => driveAll(3 * rounds, { ...variants, ...pipe }, ...args), LARGE),
    await throughput(drive, SMALL),
    await throughput(drive, MIDDLE),
    await throughput(drive, LARGE),
  ]
}

async function latencyOnOneCore(drive, { size, label, calls, warm }) {
  console.log(`\none call at a time, ${label}, all on one core (what recording costs in CPU)`)
  const results = await drive(['taskset', '-c', '0'], 'seq', size, calls, warm, 1)
  print(results, 'p50', 'p50 µs')
  print(results, 'p99', 'p99 µs')
  const ratio = (field) => median(added(results, 'reelay', field)) / median(added(results, 'tee', field))
  return [
    goal(`${label}: added p50 beside the C tee`, ratio('p50'), 2, 'at most'),
    goal(`${label}: added p99 beside the C tee`, ratio('p99'), 2.5, 'at most'),
  ]
}

/**
 * What is added depends on what it is added to: a direct call takes 0.6 ms where the kernel keeps both ends on one core, and more
 * than 2 ms, more than through the tee, where it wakes the one on the other core. So everything is measured from the fastest
 * direct round, and there are more rounds. A Node program that only pipes stands beside ours.
 */
async function latencyOfLarge(drive, { size, label, calls, warm }) {
  console.log(`\none call at a time, ${label}`)
  const results = await drive([], 'seq', size, calls, warm, 1)
  print(results, 'p50', 'p50 µs')
  const direct = Math.min(...results.direct.map(({ p50 }) => p50))
  const addedBy = (name) => median(results[name].map(({ p50 }) => p50)) - direct
  console.log(`  the fastest direct round took ${Math.round(direct)} µs`)
  console.log(
    `  added µs: the C tee ${Math.round(addedBy('tee'))}, a Node pipe without a tape ${Math.round(addedBy('pipe'))}, reelay ${Math.round(addedBy('reelay'))}`,
  )
  return goal(`${label}: added p50 beside the C tee`, addedBy('reelay') / addedBy('tee'), 2, 'at most')
}

async function throughput(drive, { size, label, piped, share }) {
  console.log(`\n64 calls in flight, ${label}`)
  const results = await drive([], 'pipe', size, piped, 10, 64)
  print(results, 'mps', 'calls/s')
  const ratios = results.reelay.map(({ mps }, round) => mps / results.tee[round].mps)
  return goal(`${label}: calls/s beside the C tee`, median(ratios), share, 'at least')
}

function added(results, name, field) {
  return results[name].map((run, round) => run[field] - results.direct[round][field])
}

function print(results, field, unit) {
  const cells = Object.entries(results).map(
    ([name, runs]) => `${name} ${median(runs.map((run) => run[field])).toLocaleString('en')}`,
  )
  console.log(`  ${unit.padEnd(8)} ${cells.join('   ')}`)
}

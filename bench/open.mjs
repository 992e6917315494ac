// From starting `reelay serve` on a large tape to its first answer: with the index beside the tape, and without.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { callAgain, writeBigTape } from './big-tape.mjs'
import { goal, interleave, median, reelay, scratch } from './measure.mjs'

const GIGABYTES = Number(process.env.REELAY_BENCH_GB ?? 1)

export async function open({ rounds }) {
  const tape = join(scratch, 'big.tape.jsonl')
  const calls = writeBigTape(tape, GIGABYTES * 1e9)
  const text = callAgain(calls >> 1)
  const without = () => {
    rmSync(`${tape}.idx`, { force: true })
    return firstAnswer(tape, text)
  }
  console.log(
    `\nfirst answer from a tape of ${GIGABYTES} GB, ${calls.toLocaleString('en')} calls (REELAY_BENCH_GB=n for another size)`,
  )
  const variants = {
    'node -e 0': emptyRun,
    'without index': without,
    'with index': () => firstAnswer(tape, text),
  }
  const results = await interleave(rounds, variants, (measure) => measure())
  rmSync(tape)
  rmSync(`${tape}.idx`, { force: true })
  const ms = (name) => median(results[name].map((one) => one.ms))
  const mb = (name) => median(results[name].map((one) => one.mb))
  for (const name of Object.keys(variants))
    console.log(`  ${name.padEnd(16)} ${ms(name).toFixed(0)} ms, ${mb(name).toFixed(0)} MB`)
  return [
    goal(
      'ms to the first answer with the index, beyond node -e 0',
      ms('with index') - ms('node -e 0'),
      30,
      'at most',
    ),
    goal('MB of memory with the index', mb('with index'), 80, 'at most'),
    goal('ms to the first answer without the index', ms('without index'), 1000 * GIGABYTES, 'at most'),
    goal('MB of memory without the index', mb('without index'), 150, 'at most'),
  ]
}

function emptyRun() {
  const began = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return { ms: performance.now() - began, mb: 0 }
}

function firstAnswer(tape, text) {
  return new Promise((resolve) => {
    const began = performance.now()
    const child = spawn(process.execPath, [reelay, 'serve', tape], { stdio: ['pipe', 'pipe', 'ignore'] })
    let result
    child.stdin.write(`${text}\n`)
    child.stdout.once('data', () => {
      result = { ms: performance.now() - began, mb: memoryOf(child.pid) }
      child.stdin.end()
    })
    child.stdout.resume()
    child.on('exit', () => resolve(result ?? { ms: NaN, mb: NaN }))
  })
}

/** The most that the process has held so far; Linux alone tells. */
function memoryOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return NaN
  }
}

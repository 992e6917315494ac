// From starting `reelay serve` on a large tape to its first answer, with the index beside the tape and without; lookups among a
// million calls; and the first miss on a long tape.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { callAgain, longCalls, writeBigTape, writeLongTape } from './big-tape.mjs'
import { goal, interleave, median, reelay, scratch } from './measure.mjs'

const GIGABYTES = Number(process.env.REELAY_BENCH_GB ?? 1)
const CALLS = 1_000_000
const CALLS_BEFORE_A_MISS = 100_000

export async function open({ rounds }) {
  return [...(await firstAnswers(rounds)), ...(await lookups()), ...(await firstMisses(rounds))]
}

async function firstAnswers(rounds) {
  const tape = join(scratch, 'big.tape.jsonl')
  const calls = writeBigTape(tape, GIGABYTES * 1e9)
  const text = callAgain(calls >> 1)
  console.log(
    `\nfirst answer from a tape of ${GIGABYTES} GB, ${calls.toLocaleString('en')} calls (REELAY_BENCH_GB=n for another size)`,
  )
  const variants = {
    'node -e 0': emptyRun,
    'without index': () => {
      rmSync(`${tape}.idx`, { force: true })
      return firstAnswer(tape, text)
    },
    'with index': () => firstAnswer(tape, text),
  }
  const results = await interleave(rounds, variants, (measure) => measure())
  remove(tape)
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

async function lookups() {
  const tape = join(scratch, 'long.tape.jsonl')
  writeLongTape(tape, CALLS)
  console.log(`\na tape of ${CALLS.toLocaleString('en')} calls`)
  const [{ openIndexedTape }, { requestKey }] = await Promise.all([
    import('../dist/store/index/indexed-tape.js'),
    import('../dist/match/request-key.js'),
  ])
  const opened = await openIndexedTape(tape)
  const bytes = statSync(`${tape}.idx`).size / CALLS
  const rate = rateOf(opened.turns.keyedBy(requestKey), requestKey)
  opened.close()
  remove(tape)
  return [
    goal('bytes of the index for a call', bytes, 64, 'at most'),
    goal('lookups in a second', rate, 700_000, 'at least'),
  ]
}

/** From the key of a call to its place; the best of three rounds, of which the first is for the compiler. */
function rateOf(keyed, requestKey) {
  const keys = longCalls(200_000).map(({ method, params }) => requestKey({ server: 'bench', method, params }))
  const rates = [1, 2, 3].map(() => {
    const began = performance.now()
    const missed = keys.filter((key) => keyed.first(key) < 0).length
    return missed > 0 ? NaN : (keys.length / (performance.now() - began)) * 1000
  })
  return Math.max(...rates)
}

async function firstMisses(rounds) {
  const tape = join(scratch, 'misses.tape.jsonl')
  writeLongTape(tape, CALLS_BEFORE_A_MISS)
  console.log(
    `\nthe first call that is not on a tape of ${CALLS_BEFORE_A_MISS.toLocaleString('en')} calls, explained`,
  )
  const results = await interleave(rounds + 1, { miss: () => firstMiss(tape) }, (measure) => measure())
  remove(tape)
  const [, ...withIndex] = results.miss // the first run makes the index
  return [goal('ms to a miss', median(withIndex), 200, 'at most')]
}

function remove(tape) {
  rmSync(tape)
  rmSync(`${tape}.idx`, { force: true })
}

function emptyRun() {
  const began = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return { ms: performance.now() - began, mb: 0 }
}

function firstAnswer(tape, text) {
  return new Promise((resolve) => {
    const began = performance.now()
    const child = serving(tape, resolve)
    child.stdin.write(`${text}\n`)
    child.stdout.once('data', () => {
      child.result = { ms: performance.now() - began, mb: memoryOf(child.pid) }
      child.stdin.end()
    })
  })
}

/** From a call of a server that has answered already to the report that there is no answer. */
function firstMiss(tape) {
  return new Promise((resolve) => {
    const child = serving(tape, resolve)
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    child.stdout.once('data', () => {
      const began = performance.now()
      const args = { query: 'something else entirely 42', limit: 77_777, deep: true }
      const params = { name: 'search', arguments: args }
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })}\n`)
      child.stdout.once('data', () => {
        child.result = performance.now() - began
        child.stdin.end()
      })
    })
  })
}

function serving(tape, resolve) {
  const child = spawn(process.execPath, [reelay, 'serve', tape], { stdio: ['pipe', 'pipe', 'ignore'] })
  child.on('exit', () => resolve(child.result ?? NaN))
  return child
}

/** The most that the process has held so far; Linux alone tells. */
function memoryOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return NaN
  }
}

// What Reelay holds of a large tape at most: when it is planned, played with every answer compared, and looked at. Once with long
// answers, and once with very many small calls that carry handles from one to the next.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { goal, here, reelay, scratch } from './measure.mjs'
import { answerOf, requestOf } from './replay/small-calls.mjs'

const MEGABYTES = Number(process.env.REELAY_BENCH_GB ?? 0.25) * 1000
const CHARACTERS = 20_000
const PAGES = join(here, '..', 'test', 'fixtures', 'servers', 'pages.mjs')
const SMALL = join(here, 'replay', 'small-calls.mjs')
/** A small call and its answer on a tape; a quarter of the megabytes are enough calls for a bench. */
const SMALL_BYTES = 650 * 4

export async function replayMemory() {
  return [...(await longAnswers()), ...(await smallCalls())]
}

async function longAnswers() {
  const calls = Math.ceil((MEGABYTES * 1e6) / CHARACTERS)
  const filling = 'abcdefghi '.repeat(CHARACTERS / 10)
  const tape = writeTape('pages', calls, (number) => {
    const params = { name: 'page', arguments: { number, characters: CHARACTERS } }
    const content = [{ type: 'text', text: `page ${number} ${filling}` }]
    return [
      { method: 'tools/call', params, jsonrpc: '2.0', id: number },
      { result: { content }, jsonrpc: '2.0', id: number },
    ]
  })
  console.log(`\nreplay of a tape of ${MEGABYTES} MB, ${calls} calls (REELAY_BENCH_GB=n for another size)`)
  return measured(tape, { server: PAGES, most: 250 })
}

async function smallCalls() {
  const calls = Math.ceil((MEGABYTES * 1e5) / SMALL_BYTES) * 10 // every handle is sent back
  const tape = writeTape('small', calls, (number) => [requestOf(number), answerOf('recorded', number)])
  console.log(`\nreplay of a tape of ${calls} small calls, every tenth with a handle of an earlier answer`)
  return measured(tape, { server: SMALL, most: 300 + Math.round(calls / 1000) }) // at most 1 KB a call
}

async function measured(tape, { server, most }) {
  const planned = await memoryOf(['replay', tape, '--dry-run', '--allow-writes'])
  const played = await memoryOf(['replay', tape, '--', process.execPath, server])
  const inspected = await memoryOf(['inspect', tape])
  const counted = await memoryOf(['stats', tape])
  rmSync(tape)
  rmSync(`${tape}.idx`, { force: true })
  const seconds = [planned, played, inspected, counted].map((one) => one.seconds.toFixed(1))
  console.log(`  planned in ${seconds[0]} s, played in ${seconds[1]} s`)
  console.log(`  inspected in ${seconds[2]} s, counted in ${seconds[3]} s`)
  return [
    goal('MB of memory to plan it', planned.mb, most, 'at most'),
    goal('MB of memory to play it', played.mb, most, 'at most'),
    goal('MB of memory to inspect it', inspected.mb, 250, 'at most'),
    goal('MB of memory for its stats', counted.mb, 250, 'at most'),
  ]
}

function writeTape(name, calls, exchangeAt) {
  const path = join(scratch, `${name}.tape.jsonl`)
  const file = openSync(path, 'wx', 0o600)
  const line = (value) => writeSync(file, `${JSON.stringify(value)}\n`)
  const started = new Date().toISOString()
  const servers = { [name]: { transport: 'stdio' } }
  line({ reelay: 1, id: 'bench', started, by: 'bench', servers, tags: {} })
  let n = 0
  const say = (dir, msg) => line({ n: ++n, t: n, server: name, conn: 1, dir, msg })
  for (let number = 0; number < calls; number++) {
    const [request, answer] = exchangeAt(number)
    say('c2s', request)
    say('s2c', answer)
  }
  line({ n: ++n, t: n, event: 'end', frames: n })
  closeSync(file)
  return path
}

/** The most that the process ever held; Linux alone tells. */
function memoryOf(words) {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(process.execPath, [reelay, ...words], { stdio: ['ignore', 'ignore', 'inherit'] })
    let mb = NaN
    const look = setInterval(() => {
      try {
        mb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024
      } catch {} // it is over, or this is no Linux
    }, 100)
    child.on('exit', (code) => {
      clearInterval(look)
      const seconds = (performance.now() - began) / 1000
      if (code === 0) resolve({ mb, seconds })
      else reject(new Error(`reelay ${words.join(' ')} ended with ${code}`))
    })
  })
}

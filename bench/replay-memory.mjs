// What `reelay replay` holds of a large tape at most: when it is planned, and when it is played with every answer compared.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { goal, here, reelay, scratch } from './measure.mjs'

const MEGABYTES = Number(process.env.REELAY_BENCH_GB ?? 0.25) * 1000
const CHARACTERS = 20_000
const SERVER = join(here, '..', 'test', 'fixtures', 'servers', 'pages.mjs')

export async function replayMemory() {
  const tape = join(scratch, 'pages.tape.jsonl')
  const calls = writePages(tape)
  console.log(`\nreplay of a tape of ${MEGABYTES} MB, ${calls} calls (REELAY_BENCH_GB=n for another size)`)
  const planned = await memoryOf(['replay', tape, '--dry-run', '--allow', 'page'])
  const played = await memoryOf(['replay', tape, '--', process.execPath, SERVER])
  rmSync(tape)
  rmSync(`${tape}.idx`, { force: true })
  console.log(`  planned in ${planned.seconds.toFixed(1)} s, played in ${played.seconds.toFixed(1)} s`)
  return [
    goal('MB of memory to plan it', planned.mb, 250, 'at most'),
    goal('MB of memory to play it', played.mb, 250, 'at most'),
  ]
}

function writePages(path) {
  const file = openSync(path, 'wx', 0o600)
  const line = (value) => writeSync(file, `${JSON.stringify(value)}\n`)
  const started = new Date().toISOString()
  line({ reelay: 1, id: 'bench', started, by: 'bench', servers: { pages: { transport: 'stdio' } }, tags: {} })
  let n = 0
  const say = (dir, msg) => line({ n: ++n, t: n, server: 'pages', conn: 1, dir, msg })
  const filling = 'abcdefghi '.repeat(CHARACTERS / 10)
  const calls = Math.ceil((MEGABYTES * 1e6) / CHARACTERS)
  for (let number = 0; number < calls; number++) {
    const params = { name: 'page', arguments: { number, characters: CHARACTERS } }
    say('c2s', { method: 'tools/call', params, jsonrpc: '2.0', id: number })
    const content = [{ type: 'text', text: `page ${number} ${filling}` }]
    say('s2c', { result: { content }, jsonrpc: '2.0', id: number })
  }
  line({ n: ++n, t: n, event: 'end', frames: n })
  closeSync(file)
  return calls
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

// Records a session at a steady rate, and prints the memory and the open files of the recorder. `--only <minutes>` sets the time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../run.mjs'

const REELAY = join(root, 'dist', 'cli', 'main.js')
const SERVER = join(root, 'scripts', 'attack', 'marking-server.mjs')
const MINUTES = 60
const TICK_MS = 20
const CALLS_PER_TICK = 4
/** The last quarter may need this much more memory than the second quarter. */
const MAX_GROWTH = 1.1

export async function run({ only = '' } = {}) {
  const minutes = only === '' ? MINUTES : Number(only)
  if (process.platform !== 'linux') throw new Error('the soak of record needs /proc')
  const folder = mkdtempSync(join(tmpdir(), 'reelay-soak-'))
  const args = ['record', '-q', '-o', join(folder, 'soak.tape.jsonl'), '--', process.execPath, SERVER]
  const env = { ...process.env, REELAY_HOME: folder }
  const child = spawn(process.execPath, [REELAY, ...args], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  let [sent, received] = [0, 0]
  child.stdout.on('data', (chunk) => (received += chunk.toString('latin1').split('\n').length - 1))
  const timer = setInterval(() => {
    for (let call = 0; call < CALLS_PER_TICK; call++) {
      const params = { size: 500, secret: ++sent % 50 === 0 }
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: sent, method: 'tools/call', params })}\n`)
    }
  }, TICK_MS)
  console.log(`record for ${minutes} minutes\n\n   minute     messages       MB   files`)
  const samples = []
  for (let minute = 1; minute <= minutes; minute++) {
    await new Promise((resolve) => setTimeout(resolve, 60_000))
    const mb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024
    const files = readdirSync(`/proc/${child.pid}/fd`).length
    samples.push({ mb, files })
    const cells = [minute, (sent + received).toLocaleString('en'), mb.toFixed(1), files]
    console.log(cells.map((cell, at) => String(cell).padStart([9, 13, 9, 8][at])).join(''))
  }
  clearInterval(timer)
  child.stdin.end()
  await once(child, 'close')
  rmSync(folder, { recursive: true, force: true })
  const quarter = Math.ceil(samples.length / 4)
  const [early, late] = [most(samples.slice(quarter, 2 * quarter)), most(samples.slice(-quarter))]
  const isFlat = !(late > early * MAX_GROWTH) && samples.at(-1).files <= samples[0].files
  console.log(`\n  sent ${sent}, received ${received}; ${isFlat ? 'memory is flat' : 'MEMORY GROWS'}`)
  return (isFlat ? 0 : 1) + (sent === received ? 0 : 1)
}

function most(samples) {
  return Math.max(...samples.map(({ mb }) => mb))
}

// Records two sessions at a steady rate, one with new secrets and one without, and prints the memory and the open files of both
// recorders. `--minutes` and `--rate` set the time and the requests a second.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../run.mjs'

const REELAY = join(root, 'dist', 'cli', 'main.js')
const SERVER = join(root, 'scripts', 'attack', 'marking-server.mjs')
const TICK_MS = 100
const CALLS_PER_SECRET = 5
/** The last quarter may need this much more memory than the second quarter. */
const MAX_GROWTH = 1.1

export async function run({ minutes = 60, rate = 200 } = {}) {
  if (process.platform !== 'linux') throw new Error('the soak of record needs /proc')
  const folder = mkdtempSync(join(tmpdir(), 'reelay-soak-'))
  const sessions = [
    startSession('new secrets', folder, (call) => call % CALLS_PER_SECRET === 0),
    startSession('no secrets', folder, () => false),
  ]
  console.log(`record for ${minutes} minutes, ${rate} requests a second\n`)
  console.log(row(['minute', ...sessions.flatMap(({ name }) => [name, 'MB', 'files'])]))
  const timer = setInterval(() => sessions.forEach(({ send }) => send((rate * TICK_MS) / 1000)), TICK_MS)
  for (let minute = 1; minute <= minutes; minute++) {
    await sleep(60_000)
    for (const { samples, child } of sessions) samples.push(usageOf(child.pid))
    const cells = sessions.flatMap(({ counts, samples }) => [
      (counts.sent + counts.received).toLocaleString('en'),
      samples.at(-1).mb.toFixed(1),
      samples.at(-1).files,
    ])
    console.log(row([minute, ...cells]))
  }
  clearInterval(timer)
  let failures = 0
  for (const { name, child, counts, samples } of sessions) {
    child.stdin.end()
    await once(child, 'close')
    const quarter = Math.ceil(samples.length / 4)
    const [early, late] = [most(samples.slice(quarter, 2 * quarter)), most(samples.slice(-quarter))]
    const isFlat = !(late > early * MAX_GROWTH) && samples.at(-1).files <= samples[0].files
    const { sent, received } = counts
    console.log(
      `\n  ${name}: sent ${sent}, received ${received}; ${isFlat ? 'memory is flat' : 'MEMORY GROWS'}`,
    )
    failures += (isFlat ? 0 : 1) + (sent === received ? 0 : 1)
  }
  rmSync(folder, { recursive: true, force: true })
  return failures
}

function startSession(name, folder, hasSecret) {
  const tape = join(folder, `${name.replace(' ', '-')}.tape.jsonl`)
  const child = spawn(
    process.execPath,
    [REELAY, 'record', '-q', '-o', tape, '--', process.execPath, SERVER],
    { env: { ...process.env, REELAY_HOME: folder }, stdio: ['pipe', 'pipe', 'ignore'] },
  )
  const counts = { sent: 0, received: 0 }
  child.stdout.on('data', (chunk) => (counts.received += chunk.toString('latin1').split('\n').length - 1))
  const send = (calls) => {
    for (let call = 0; call < calls; call++) {
      const params = { size: 500, secret: hasSecret(++counts.sent) }
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: counts.sent, method: 'tools/call', params })}\n`,
      )
    }
  }
  return { name, child, counts, send, samples: [] }
}

function usageOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024
  return { mb, files: readdirSync(`/proc/${pid}/fd`).length }
}

function row(cells) {
  return cells.map((cell, at) => String(cell).padStart([9, 13, 9, 8, 13, 9, 8][at])).join('')
}

function most(samples) {
  return Math.max(...samples.map(({ mb }) => mb))
}

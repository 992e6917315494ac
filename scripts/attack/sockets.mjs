// Opens 10,000 sockets to every listener of Reelay, and 10,000 tunnels through the forward proxy. Half of them send nothing, the
// others a part of a head. The listener must still answer, and give everything back when they are closed.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DOORS, answersWell } from './http.mjs'
import { echoServer, recordedTape } from './targets.mjs'

const SPARE_FILES = 2000
/** Files that a program may have opened meanwhile for a reason of its own. */
const TOLERANCE = 8
const CLOSE_TIMEOUT_MS = 30_000

/** `before` opens a tunnel in a socket, which is open when the answer is there. */
const OPENER = `
const [port, count] = process.argv.slice(1, 3).map(Number)
const before = process.argv[3]
let open = 0, failed = 0
const next = (at) => {
  if (at >= count) return
  const socket = require('net').connect(port, '127.0.0.1')
  const opened = () => { open++; if (at % 2) socket.write('POST /mcp HTTP/1.1\\r\\nHo'); next(at + 50); tell() }
  socket.on('connect', () => { if (before === '') opened(); else socket.write(before) })
  if (before !== '') socket.once('data', (answer) => { if (/^HTTP.1.1 200/.test(answer)) opened(); else socket.destroy(Error()) })
  socket.on('error', () => { failed++; next(at + 50); tell() })
}
const tell = () => { if (open + failed === count) console.log(open) }
for (let at = 0; at < 50; at++) next(at)
process.stdin.resume().on('end', () => process.exit())
`

export async function run({ sockets = 10_000, only = '' } = {}) {
  const listeners = Object.entries(DOORS).filter(([name]) => name.includes(only))
  const folder = mkdtempSync(join(tmpdir(), 'reelay-sockets-'))
  const upstream = await echoServer()
  const tape = await recordedTape(folder, upstream.url)
  console.log(`idle sockets: ${sockets} for each listener\n`)
  console.log(row('listener', 'opened', 'answers in', 'files before', 'with them', 'after', ''))
  let failures = 0
  try {
    for (const [name, start] of listeners) {
      const door = await start({ folder, upstream, tape, limit: sockets + SPARE_FILES })
      if (!(await attackDoor(name, door, sockets))) failures++
      await door.program.stop()
    }
  } finally {
    upstream.close()
    rmSync(folder, { recursive: true })
  }
  console.log(`\n${listeners.length} listeners tried, ${failures} failed`)
  return failures
}

async function attackDoor(name, door, count) {
  const { port } = new URL(door.program.url)
  const { pid } = door.program
  const isWell = await answersWell(door, port)
  const before = openFiles(pid)
  const opener = await openSockets(port, count, door.before)
  const since = performance.now()
  const isStillWell = await answersWell(door, port)
  const took = performance.now() - since
  const during = openFiles(pid)
  opener.close()
  const end = Date.now() + CLOSE_TIMEOUT_MS
  while (openFiles(pid) > before + TOLERANCE && Date.now() < end) await sleep(100)
  const after = openFiles(pid)
  const isRight =
    isWell &&
    isStillWell &&
    opener.opened === count &&
    after <= before + TOLERANCE &&
    (await answersWell(door, port))
  console.log(
    row(
      name,
      opener.opened,
      isStillWell ? `${took.toFixed(0)} ms` : 'never',
      before,
      during,
      after,
      isRight ? '' : 'FAILED',
    ),
  )
  return isRight
}

async function openSockets(port, count, before = '') {
  const limited = `ulimit -n ${count + SPARE_FILES}; exec "$0" "$@"`
  const child = spawn(
    'sh',
    ['-c', limited, process.execPath, '-e', OPENER, String(port), String(count), before],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const opened = await new Promise((resolve) => {
    child.stdout.once('data', (text) => resolve(Number(text)))
    child.once('exit', () => resolve(0))
  })
  return { opened, close: () => child.stdin.end() }
}

function openFiles(pid) {
  return readdirSync(`/proc/${pid}/fd`).length
}

function row(name, ...cells) {
  return name.padEnd(34) + cells.map((cell) => String(cell).padStart(13)).join('')
}

// Measures how long a recorder takes to end after SIGTERM while it searches a hostile message of a megabyte for secrets. On Linux,
// its own CPU time is judged, which does not depend on other programs.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../run.mjs'
import { messageShapes } from './redact-shapes.mjs'

const BYTES = 1_000_000
/** These take the most time of all shapes in `npm run attack -- redact`, and one that takes little. */
const SHAPES = [
  'token: base64',
  'password: dotenv',
  'api_key: base64 of secrets',
  'text: percent-encoded',
  'secret: command lines',
  'text: JSON in JSON in text',
  'many members',
  'many named pairs',
  'deep objects in text',
  'secrets with a common beginning',
  'text: "AKIA" repeated',
  'text: prose',
]
const DELAYS_MS = [0, 100, 400]
/** The work for one message is limited to about two seconds. Then the session still has to end. */
const MAX_MS = 6000
const KILL_AFTER_MS = 60_000

export async function run({ only = '' } = {}) {
  const rules = await import(pathToFileURL(join(root, 'dist', 'redact', 'rules', 'index.js')).href)
  const all = messageShapes(rules.defaultRules()).filter(({ name }) => name.includes(only))
  const shapes = SHAPES.flatMap((wanted) => all.find(({ name }) => name.includes(wanted)) ?? [])
  const folder = mkdtempSync(join(tmpdir(), 'reelay-sigterm-'))
  console.log(
    `SIGTERM while a message of ${BYTES.toLocaleString('en')} bytes is searched: CPU ms to the end of the recorder\n`,
  )
  console.log(row('shape', [...DELAYS_MS.map((ms) => `after ${ms} ms`), '']))
  let [worst, failures] = [0, 0]
  for (const { name, message } of shapes) {
    const file = join(folder, 'message.json')
    writeFileSync(file, message(BYTES))
    const times = []
    for (const delay of DELAYS_MS) times.push(await timeToEnd(file, folder, delay))
    const hasFailed = times.some((ms) => ms > MAX_MS)
    if (hasFailed) failures++
    worst = Math.max(worst, ...times)
    console.log(row(name, [...times.map((ms) => ms.toFixed(0)), hasFailed ? 'FAILED' : '']))
  }
  rmSync(folder, { recursive: true, force: true })
  console.log(`\n${shapes.length} shapes tried, the longest took ${worst.toFixed(0)} ms, ${failures} failed`)
  return failures
}

/** Sends SIGTERM so long after the client has received the end of the message. */
async function timeToEnd(file, folder, delay) {
  const server = [process.execPath, '-e', SERVER, file]
  const args = [
    join(root, 'dist', 'cli', 'main.js'),
    'record',
    '-q',
    '--numbered',
    '-o',
    join(folder, 't.jsonl'),
  ]
  const child = spawn(process.execPath, [...args, '--', ...server], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.stdin.on('error', () => {})
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      if (chunk.at(-1) === LINE_FEED) resolve()
    })
    void ended.then(resolve)
  })
  await new Promise((resolve) => setTimeout(resolve, delay))
  const [began, used] = [performance.now(), cpuMs(child.pid)]
  let last = used
  child.kill('SIGTERM')
  const poll = setInterval(() => (last = cpuMs(child.pid) ?? last), 5)
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  await ended
  clearInterval(poll)
  clearTimeout(timer)
  return used === undefined ? performance.now() - began : last - used
}

/** The CPU time of a process on Linux, where the clock of the kernel has 100 ticks a second; elsewhere `undefined`. */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return 10 * (Number(fields[11]) + Number(fields[12]))
  } catch {
    return undefined
  }
}

const LINE_FEED = 10
/** Answers the first request with the content of a file. */
const SERVER = `process.stdin.once('data', () => {
  process.stdout.write(require('node:fs').readFileSync(process.argv[1], 'utf8') + '\\n')
})`

function row(name, cells) {
  return name.padEnd(44) + cells.map((cell) => cell.padStart(14)).join('')
}

// Kills the debugger, the editor, a control client or the server at random moments of `reelay debug` and `reelay dap`, and checks that no
// process is left, and that the tape of the run opens and has an end unless the program itself was killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { root } from '../run.mjs'

const REELAY = join(root, 'dist', 'cli', 'main.js')
const SERVER = [process.execPath, join(root, 'scripts', 'attack', 'marking-server.mjs')]
const SIGNALS = ['SIGKILL', 'SIGTERM']
const CASES = [
  ...['debugger', 'server', 'user', 'control'].map((victim) => ({ face: 'debug', victim })),
  ...['adapter', 'server', 'editor'].map((victim) => ({ face: 'dap', victim })),
]
const ROUNDS = 5
const DEADLINE_MS = 20_000

/** `--only` selects cases by a text, such as `dap, editor`. */
export async function run({ only = '', kills = ROUNDS } = {}) {
  console.log('kills while a tape is debugged\n')
  console.log('what, victim, signal'.padEnd(28) + 'kills'.padStart(10) + 'problems'.padStart(10))
  const folder = mkdtempSync(join(tmpdir(), 'reelay-debug-kill-'))
  let failures = 0
  try {
    const tape = await recordedTape(folder)
    for (const { face, victim } of CASES)
      for (const signal of SIGNALS) {
        const name = `${face}, ${victim}, ${signal}`
        if (!name.includes(only)) continue
        const problems = []
        for (let round = 0; round < kills; round++)
          problems.push(...(await killOnce({ face, victim, signal, tape, folder, round })))
        failures += problems.length
        console.log(name.padEnd(28) + String(kills).padStart(10) + String(problems.length).padStart(10))
        for (const problem of problems.slice(0, 3)) console.log(`    ${problem}`)
      }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return failures
}

async function recordedTape(folder) {
  const tape = join(folder, 'recorded.tape.jsonl')
  const child = reelay(folder, ['record', '-q', '-o', tape, '--', ...SERVER])
  child.stderr.resume()
  let responses = 0
  child.stdout.on('data', (chunk) => (responses += String(chunk).split('\n').length - 1))
  for (let id = 1; id <= 12; id++)
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'mark', arguments: { id } } })}\n`,
    )
  await becomes(() => responses === 12)
  child.stdin.end()
  await once(child, 'close')
  return tape
}

/** Kills one process at a random moment of a run. Returns what is wrong afterwards. */
async function killOnce({ face, victim, signal, tape, folder, round }) {
  const problems = []
  const home = join(folder, `${face}-${victim}-${signal}-${round}`)
  const record = join(home, 'run.tape.jsonl')
  const shared = ['--handshake', 'none', '--allow-writes']
  const child =
    face === 'debug'
      ? reelay(home, ['debug', '-v', '--control', ...shared, '--record', record, tape, '--', ...SERVER])
      : reelay(home, ['dap', ...shared, '--record', record, tape, '--', ...SERVER])
  child.stdout.resume()
  child.stderr.resume()
  let isOver = false
  const drive = (face === 'debug' ? typeCommands : speakProtocol)(child, () => isOver)
  const control = victim === 'control' ? await attachedClient(home, tape) : undefined
  await becomes(() => existsSync(record) && serverOf(child.pid) !== undefined)
  const server = serverOf(child.pid)
  if (server === undefined) problems.push('there is no server')
  const moment = Math.random() * 400
  await sleep(moment)
  const pid = { debugger: child.pid, adapter: child.pid, server, control: control?.pid }[victim]
  if (pid === undefined) {
    child.stdin.destroy() // the terminal or the editor is gone
    child.stdout.destroy()
  } else kill(pid, signal)
  isOver = true
  await drive
  if (victim === 'server' || victim === 'control') child.stdin.end()
  for (const [name, one] of [
    [face, child.pid],
    ['server', server],
    ['control client', control?.pid],
  ])
    if (!(await becomes(() => !isAlive(one)))) problems.push(`the ${name} does not end`)
  const isCut = pid === child.pid && signal === 'SIGKILL'
  problems.push(...(await tapeProblems(record, isCut)))
  const sockets = join(home, 'control')
  if (!isCut && existsSync(sockets) && readdirSync(sockets).length > 0)
    problems.push('the control socket is left')
  for (const one of [child.pid, server, control?.pid]) if (one !== undefined) kill(one, 'SIGKILL')
  return problems.map((problem) => `${Math.round(moment)} ms: ${problem}`)
}

/** A user who types commands at random. */
async function typeCommands(child, isOver) {
  const lines = ['next', 'step', 'back', 'next', 'set params.arguments.id 7', 'resend', 'show all']
  lines.push('inject {"method":"tools/call","params":{"name":"mark"}}', 'status', 'goto #6', 'goto #9')
  while (!isOver() && child.exitCode === null) {
    child.stdin.write(`${lines[Math.floor(Math.random() * lines.length)]}\n`)
    await sleep(Math.random() * 30)
  }
}

/** An editor that asks at random. */
async function speakProtocol(child, isOver) {
  let seq = 0
  const ask = (command, given = {}) => {
    const text = JSON.stringify({ seq: ++seq, type: 'request', command, arguments: given })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  ask('initialize', { adapterID: 'reelay' })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  ask('launch')
  await becomes(() => said.includes('"initialized"'))
  ask('configurationDone')
  const requests = ['next', 'stepIn', 'stepBack', 'reverseContinue', 'pause', 'stackTrace', 'threads']
  while (!isOver() && child.exitCode === null) {
    ask(requests[Math.floor(Math.random() * requests.length)], { threadId: 1 })
    if (Math.random() < 0.2) ask('restartFrame', { frameId: 1 })
    await sleep(Math.random() * 30)
  }
}

async function attachedClient(home, tape) {
  for (;;) {
    const client = reelay(home, ['intercept', '--json', tape])
    client.stderr.resume()
    const hello = await Promise.race([
      once(client.stdout, 'data'),
      once(client, 'exit').then(() => undefined),
    ])
    client.stdout.resume()
    if (hello !== undefined) return client
  }
}

async function tapeProblems(record, isCut) {
  const { loadTape } = await import(pathToFileURL(join(root, 'dist', 'store', 'file', 'read.js')).href)
  try {
    await loadTape(record)
  } catch (error) {
    return [`the tape of the run does not open: ${error.message}`]
  }
  const hasEnd = readFileSync(record, 'utf8').includes('"event":"end"')
  return hasEnd || isCut ? [] : ['the tape of the run has no end']
}

/** The process that the debugger or the adapter has started. Its parent may be gone already. */
function serverOf(parent) {
  try {
    const [first = ''] = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ')
    return Number(first) || undefined
  } catch {
    return undefined
  }
}

function reelay(home, args) {
  const child = spawn(process.execPath, [REELAY, ...args], { env: { ...process.env, REELAY_HOME: home } })
  child.stdin.on('error', () => {})
  return child
}

async function becomes(test) {
  for (const end = Date.now() + DEADLINE_MS; Date.now() < end; await sleep(20)) if (await test()) return true
  return false
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended already
  }
}

/** A process that has ended may remain as a zombie, if its parent was killed and nobody has waited for it. */
function isAlive(pid) {
  if (pid === undefined) return false
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

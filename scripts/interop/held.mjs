// A call that `record --intercept` holds for 90 seconds, with clients that we did not write: it outlives their timeouts of 60 s where
// they are sent progress, and fails with a clear error otherwise.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../run.mjs'
import { pythonHeldClient } from './ecosystem.mjs'

const HOLD_MS = 90_000
const reelay = [process.execPath, process.env.REELAY_MAIN ?? join(root, 'dist', 'cli', 'main.js')]
const bin = join(root, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js')
const js = (sdk) => [
  process.execPath,
  join(root, 'scripts', 'interop', 'drivers', 'held-client.mjs'),
  { sdk },
]

const HELD_CLIENTS = {
  'SDK v1': js('v1'),
  'SDK v2': js('v2'),
  'Python SDK 1.30.0': pythonHeldClient('python1'),
  'Python SDK 2.3.0': pythonHeldClient('python2'),
}

/** Runs all clients at the same time. Returns true if all got what they should. */
export async function runHeldCalls(scratch) {
  mkdirSync(scratch, { recursive: true })
  const port = 39_600 + (process.pid % 300)
  const server = spawn(process.execPath, [bin, 'streamableHttp'], {
    env: { ...process.env, PORT: port },
    stdio: 'pipe',
  })
  await listens(port)
  const cases = Object.keys(HELD_CLIENTS).flatMap((client) =>
    ['stdio', 'http'].flatMap((transport) =>
      [true, false].map((wantsProgress) => ({ client, transport, wantsProgress })),
    ),
  )
  try {
    const met = await Promise.all(
      cases.map((one, at) => judge({ ...one, tape: join(scratch, `held-${at}.tape.jsonl`), port })),
    )
    return met.every(Boolean)
  } finally {
    await end(server)
  }
}

async function judge({ client, transport, wantsProgress, tape, port }) {
  const record = ['record', '-o', tape, '--intercept', 'tool:echo dir:c2s', '--hold-limit', '5m']
  const [file, script, more] = HELD_CLIENTS[client]
  const order = { ...more, wantsProgress, env: process.env }
  const proxy =
    transport === 'stdio' ? undefined : start([...reelay, ...record, '--url', `http://127.0.0.1:${port}/mcp`])
  if (proxy === undefined) order.command = [...reelay, ...record, '--', process.execPath, bin, 'stdio']
  else order.url = /client: (http\S+)/.exec(await said(proxy.stderr, 'client: http'))[1]
  const run = start([file, script, JSON.stringify(order)])
  const answer = said(run.stdout, '{')
  const user = await attach(tape)
  // A client that fails before its call is held has answered already.
  const first = await Promise.race([said(user.stdout, '"event":"held"'), answer])
  const held = JSON.parse(first).message ?? { key: '', heldMs: 0 }
  const began = performance.now() - held.heldMs
  const timer = setTimeout(
    () => user.stdin.write(`${JSON.stringify({ id: 1, command: 'forward', key: held.key })}\n`),
    HOLD_MS,
  )
  const { text, error, progress } = JSON.parse(await answer)
  clearTimeout(timer)
  const seconds = Math.round((performance.now() - began) / 1000)
  await Promise.all([user, run, proxy].map(end))
  const isGood = wantsProgress
    ? text?.includes('still there') && progress > 10 && seconds >= 90
    : /timed? ?out|waiting/i.test(error ?? '')
  const how = wantsProgress
    ? `with progress: ${text ?? error}, ${progress} times`
    : `without progress: ${error ?? text}`
  console.log(`${isGood ? 'good  ' : 'FAILED'}  ${client}, ${transport}, ${how}, after ${seconds} s`)
  return isGood
}

async function end(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}

function start([file, ...args]) {
  return spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] })
}

/** Waits for a server that takes its time to start. */
async function listens(port) {
  for (;;) {
    const isOpen = await fetch(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    )
    if (isOpen) return
    await sleep(100)
  }
}

/** Tries until the recorder listens. */
async function attach(tape) {
  for (;;) {
    await sleep(500)
    if (!existsSync(tape)) continue
    const user = start([...reelay, 'intercept', '--json', tape])
    const hello = await Promise.race([said(user.stdout, '"hello"'), once(user, 'exit').then(() => '')])
    if (hello.includes('hello')) return user
  }
}

/** The first line of a stream that contains a text. */
async function said(stream, words) {
  stream.lines ??= collectLines(stream)
  for (;;) {
    const found = stream.lines.find((line) => line.includes(words))
    if (found !== undefined) return found
    if (stream.readableEnded || stream.destroyed) return '{"error":"the program ended"}'
    await sleep(100)
  }
}

function collectLines(stream) {
  const lines = []
  createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return lines
}

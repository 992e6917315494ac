// Sends hostile lines through the recorder in both directions, with redaction, and compares every byte. `--only <n>` sets the
// number of frames. Each session has its own lines; `--seed <n>` is the number of the first one, to run a million in parts.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../run.mjs'

const REELAY = join(root, 'dist', 'cli', 'main.js')
const FRAMES = 1_000_000
const FRAMES_PER_SESSION = 20_000

export async function run({ only = '', seed = 1 } = {}) {
  const frames = only === '' ? FRAMES : Number(only)
  const sessions = Math.ceil(frames / 2 / FRAMES_PER_SESSION)
  const sum = { sessions: 0, frames: 0, bytes: 0, unequal: 0, badEnds: 0, unopened: 0 }
  console.log('hostile lines through record with redaction, the same in both directions\n')
  for (let session = seed; session < seed + sessions; session++) {
    const result = await fuzzSession(session, Math.min(FRAMES_PER_SESSION, frames / 2))
    for (const [name, value] of Object.entries(result)) sum[name] += value
    sum.sessions++
  }
  for (const [name, value] of Object.entries(sum))
    console.log(`  ${name.padEnd(10)} ${value.toLocaleString('en').padStart(14)}`)
  return sum.unequal + sum.badEnds + sum.unopened
}

/** The server sends back every byte that it gets, so each frame passes the recorder twice. */
async function fuzzSession(seed, lines) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-fuzz-'))
  const tape = join(folder, 'session.tape.jsonl')
  const echo = 'process.stdin.pipe(process.stdout)'
  const child = spawn(
    process.execPath,
    [REELAY, 'record', '-q', '-o', tape, '--', process.execPath, '-e', echo],
    {
      env: { ...process.env, REELAY_HOME: folder },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const [sent, received] = [createHash('sha256'), createHash('sha256')]
  let [sentBytes, receivedBytes] = [0, 0]
  child.stdout.on('data', (chunk) => {
    received.update(chunk)
    receivedBytes += chunk.length
  })
  const closed = once(child, 'close')
  const random = seeded(seed)
  for (let count = 0; count < lines;) {
    const some = Math.min(lines - count, 1 + Math.floor(random() ** 3 * 200))
    const chunk = Buffer.concat(Array.from({ length: some }, () => hostileLine(random)))
    sent.update(chunk)
    sentBytes += chunk.length
    count += some
    // Cut anywhere, also within a character.
    const cut = Math.floor(random() * chunk.length)
    child.stdin.write(chunk.subarray(0, cut))
    if (!child.stdin.write(chunk.subarray(cut))) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  const [code] = await closed
  const isEqual = sentBytes === receivedBytes && sent.digest('hex') === received.digest('hex')
  const unopened = await opens(tape)
  rmSync(folder, { recursive: true, force: true })
  return {
    frames: lines * 2,
    bytes: sentBytes * 2,
    unequal: isEqual ? 0 : 1,
    badEnds: code === 0 ? 0 : 1,
    unopened,
  }
}

async function opens(tape) {
  const { openTape } = await import(pathToFileURL(join(root, 'dist', 'store', 'file', 'read.js')).href)
  try {
    const reader = await openTape(tape)
    for await (const batch of reader.batches()) if (batch.length === 0) break
    return reader.state.problems.length
  } catch {
    return 1
  }
}

const TEXTS = [
  'ordinary words',
  'password=Hunter2xyz9',
  'ghp_abcdefghijabcdefghij0123456789012345',
  'AKIAIOSFODNN7EXAMPLE',
  'Authorization: Bearer abc.def.ghi0123456789',
  '\u2028\u2029',
  '\u0000\u001b[31m',
  '😀 é 漢字',
  '-----BEGIN PRIVATE KEY-----',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'https://user:Pa55w0rd@host.example/?token=abc123def456',
]

const LINES = [
  (random, text) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: Math.floor(random() * 1e6),
      method: 'tools/call',
      params: { text },
    }),
  (random, text) =>
    JSON.stringify({ jsonrpc: '2.0', id: Math.floor(random() * 1e6), result: { [text]: text } }),
  (random, text) =>
    JSON.stringify([
      { jsonrpc: '2.0', method: 'n', params: { text } },
      { id: text, result: {} },
    ]),
  (_, text) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1e300, result: { text: JSON.stringify({ password: text }) } }),
  (_, text) => text,
  (_, text) => `{"jsonrpc":"2.0","id":1,"result":${text}`,
  (_, text) => `{"jsonrpc":"2.0","jsonrpc":"1.0","id":null,"id":1,"result":${JSON.stringify(text)}}\r`,
  (random) => Buffer.from(Array.from({ length: 40 }, () => byteOtherThanLineFeed(random))),
  (random) => `${'['.repeat(Math.floor(random() * 2000))}1`,
  () => '',
  () => ' \t\r',
  (random, text) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      result: { text: text.repeat(Math.floor(random() ** 8 * 4000)) },
    }),
]

function hostileLine(random) {
  const line = pick(random, LINES)(random, pick(random, TEXTS))
  return Buffer.concat([Buffer.isBuffer(line) ? line : Buffer.from(line), Buffer.from('\n')])
}

function byteOtherThanLineFeed(random) {
  const byte = Math.floor(random() * 256)
  return byte === 10 ? 11 : byte
}

function pick(random, list) {
  return list[Math.floor(random() * list.length)]
}

/** The same numbers in every run. */
function seeded(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

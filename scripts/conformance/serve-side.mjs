// The suite against a server while it is recorded, and then against nothing but the tape.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run.mjs'
import { ended, firstMatch, start } from './processes.mjs'
import { main, startRecorder, troublesOf } from './recorder.mjs'
import { readResults, runSuite } from './suite.mjs'

/** The live run and the served one, and what was wrong with either. */
export async function recordAndServe({ startServer, requirements, folder, log }) {
  const tape = join(folder, 'server.tape.jsonl')
  const server = await startServer()
  const recorder = await startRecorder({ url: server.url, tape })
  const live = await runOnce({ url: recorder.url, requirements, folder: join(folder, 'live'), log })
  await recorder.stop()
  await server.stop()
  const player = await startPlayer(withOtherIds(tape))
  const served = await runOnce({ url: player.url, requirements, folder: join(folder, 'served'), log })
  const account = await player.stop()
  return { live, served, account, troubles: [...troublesOf(tape), ...leaks(tape, account)] }
}

/** The same tape as if the suite had chosen other ids and tokens when it was recorded: session ids are masked on tapes anyway. */
function withOtherIds(tape) {
  const path = tape.replace('server.', 'other-ids.')
  const lines = readFileSync(tape, 'utf8').split('\n')
  writeFileSync(path, lines.map((line) => (line.includes('"msg":') ? renamed(line) : line)).join('\n'))
  return path
}

function renamed(line) {
  const { msg, ...frame } = JSON.parse(line)
  return JSON.stringify({ ...frame, msg: Array.isArray(msg) ? msg.map(rename) : rename(msg) })
}

const TOKENS = ['progressToken', 'requestId', 'io.modelcontextprotocol/subscriptionId']

function rename({ id, ...message }) {
  for (const part of [message.params, message.result]) {
    renameIn(part)
    renameIn(part?._meta)
  }
  return id === undefined ? message : { ...message, id: other(id) }
}

function renameIn(object) {
  for (const key of TOKENS) if (object?.[key] !== undefined) object[key] = other(object[key])
}

/** Ids keep their type. */
function other(id) {
  return typeof id === 'number' ? id + 100_000 : typeof id === 'string' ? `${id}-then` : id
}

async function runOnce({ url, requirements, folder, log }) {
  const exit = await runSuite(['server', '--url', url, '--requirements', requirements, '-o', folder], { log })
  const results = Object.entries(readResults(folder)).map(([name, checks]) => [
    name.replace(/^server-/, ''),
    checks,
  ])
  return { exit, results: Object.fromEntries(results) }
}

/** `reelay serve --http`, in a process that can reach nobody; `stop` returns its account of the run. */
async function startPlayer(tape) {
  const guard = join(root, 'test', 'fixtures', 'preload', 'no-outside.cjs')
  const child = start('--require', [guard, main, 'serve', tape, '--http'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, MAY_LISTEN: '1' },
  })
  let said = ''
  child.stderr.on('data', (text) => (said += text))
  const [, url] = await firstMatch(child, child.stderr, /listening on (\S+)\n/)
  const stop = async () => {
    const over = ended(child)
    child.kill('SIGTERM')
    return { code: await over, said }
  }
  return { url, stop }
}

/** Exit code 99: it tried to reach outside. */
function leaks(tape, { code, said }) {
  return code === 0 || code === 1 ? [] : [`serving ${tape} ended with ${code}: ${said}`]
}

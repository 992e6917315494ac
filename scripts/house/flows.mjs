// Counts the files and functions of the built library that one message runs through, by V8's precise coverage.
// Run as a program of its own (coverage slows everything down): it prints one JSON object.
import { Session } from 'node:inspector/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const root = resolve(process.argv[2] ?? '.')
const verbose = process.argv.includes('--verbose')
const reelay = await import(pathToFileURL(join(root, 'dist', 'index.js')).href)
const server = ['node', join(root, 'test', 'fixtures', 'servers', 'strict-handles.mjs')]
const folder = mkdtempSync(join(tmpdir(), 'reelay-house-'))
const tape = join(folder, 'session.tape.jsonl')
const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'house', version: '1' },
}
/** The stop before the third `get_issue`: by then the process is warm. */
const COUNTED_STOP = 6

const coverage = await startCoverage()

const flows = { record: await recordFlow(), serve: await serveFlow(), replay: await replayFlow() }
rmSync(folder, { recursive: true })
console.log(JSON.stringify(flows))

/** Records a session over stdio and counts one request with its response near the end of it. */
async function recordFlow() {
  const client = connectClient()
  const recorder = new reelay.Recorder()
  const done = recorder.start({ command: server, tape, client: client.streams })
  await client.request('initialize', INITIALIZE)
  client.notify('notifications/initialized')
  for (let round = 0; round < 3; round++) await createAndGet(client)
  await settle()
  await client.request('tools/call', { name: 'create_issue', arguments: { title: 'counted' } })
  const counted = await coverage.take()
  await recorder.stop()
  await done
  return counted
}

async function createAndGet(client) {
  const created = await client.request('tools/call', { name: 'create_issue', arguments: { title: 'a' } })
  const issueId = created.result.structuredContent.issue.id
  await client.request('tools/call', { name: 'get_issue', arguments: { issueId } })
}

/** Serves the tape over HTTP (legacy era) and counts one request of an open session. */
async function serveFlow() {
  const served = await reelay.serveHttp({ tape: await reelay.loadTape(tape) })
  const post = poster(served.url)
  const call = { name: 'create_issue', arguments: { title: 'a' } }
  await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE })
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call })
  await settle()
  await post({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: call })
  const counted = await coverage.take()
  await served.close()
  return counted
}

/** Replays the tape to the server and counts one call that carries a value of the live server. */
async function replayFlow() {
  const target = reelay.commandTarget(server)
  const run = reelay.replay(await reelay.loadTape(tape), {
    target,
    timing: { kind: 'stepped' },
    allowWrites: true,
  })
  let counted
  let stops = 0
  const stepping = (async () => {
    for await (const stop of run.stops) {
      await sleep(50)
      const since = await coverage.take()
      if (++stops === COUNTED_STOP + 1) counted = since
      stop.next()
    }
  })()
  await run.report
  await stepping
  return counted
}

/** A client of a stdio server that sends one request at a time. */
function connectClient() {
  const input = new PassThrough()
  const output = new PassThrough()
  let received = ''
  let answer
  output.on('data', (chunk) => {
    received += chunk
    const end = received.indexOf('\n')
    if (end < 0) return
    const line = received.slice(0, end)
    received = received.slice(end + 1)
    answer(JSON.parse(line))
  })
  const send = (message) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let ids = 0
  return {
    streams: { input, output, errors: process.stderr },
    notify: (method) => send({ method }),
    request: (method, params) =>
      new Promise((done) => {
        answer = done
        send({ id: ++ids, method, params })
      }),
  }
}

/** Posts messages over one connection, within the session that the server opens. */
function poster(url) {
  const agent = new http.Agent({ keepAlive: true })
  let session
  return (message) =>
    new Promise((done, failed) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session && {
          'mcp-session-id': session,
          'mcp-protocol-version': INITIALIZE.protocolVersion,
        }),
      }
      const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
        session = response.headers['mcp-session-id'] ?? session
        response.resume().on('end', done)
      })
      request.on('error', failed)
      request.end(JSON.stringify(message))
    })
}

/** Lets timers and callbacks of what came before end, and forgets what they ran. */
async function settle() {
  await sleep(100)
  await coverage.take()
}

async function startCoverage() {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    async take() {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      const touched = result
        .filter(({ url }) => url.includes('/dist/'))
        .map(({ url, functions }) => ({ url, ran: functions.filter((each) => hasRun(each)) }))
        .filter(({ ran }) => ran.length > 0)
      if (verbose) showTouched(touched)
      return {
        files: touched.length,
        functions: touched.reduce((sum, { ran }) => sum + ran.length, 0),
      }
    },
  }
}

function hasRun({ functionName, ranges }) {
  const isModule = functionName === '' && ranges[0].startOffset === 0
  return ranges[0].count > 0 && !isModule
}

function showTouched(touched) {
  console.error(`-- ${touched.length} files`)
  for (const { url, ran } of touched) {
    const names = ran.map(({ functionName }) => functionName || 'λ').join(' ')
    console.error(`${url.replace(/^.*\/dist\//, '')}: ${names}`)
  }
}

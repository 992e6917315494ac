// Tapes between clients: each is recorded with one client and served to all others, in both eras and over three transports. And
// programs of nine SDKs and frameworks under `reelay run`, replayed while their server is down.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { end, ended, firstMatch, freePort, start } from '../processes.mjs'
import { serving, startPlayer } from '../player.mjs'
import { main, recording, startRecorder } from '../recorder.mjs'
import { root, runTool } from '../run.mjs'
import { CLIENTS } from './clients.mjs'
import { DRIVERS, resultFolder, SMALL_SERVERS } from './ecosystem.mjs'
import { everything } from './programs.mjs'

const TRANSPORTS = ['stdio', 'http', 'sse']
/** A tape of a newer revision is translated to this one for clients that speak no newer one. */
const LEGACY = '2025-11-25'
const PATHS = { http: '/mcp', sse: '/sse' }
const ECHO = { tool: 'echo', args: { message: 'žluťoučký 🐎' } }
const SMALL_TASKS = [{}, ECHO, { tool: 'add', args: { a: 2, b: 40.5 } }, { tool: 'knock', args: {} }]

const SERVERS = {
  everything: {
    title: 'server-everything',
    command: (transport) => [...everything, transport === 'http' ? 'streamableHttp' : transport],
    tasks: [{}, ECHO, { tool: 'get-sum', args: { a: 2, b: 40.5 } }],
  },
  ...Object.fromEntries(
    Object.entries(SMALL_SERVERS).map(([name, { title, command }]) => [
      name,
      { title, tasks: SMALL_TASKS, command: (transport, port) => [...command, transport, String(port)] },
    ]),
  ),
}

/**
 * The tapes to make: with each server and transport, and with each client at least once. A server of both eras is recorded by a
 * client that does not negotiate, so that the tape is of the era.
 */
const TAPES = [
  ...tapesOf('everything', 'legacy', { stdio: 'python 1', http: 'mastra', sse: 'fastmcp' }),
  ...tapesOf('python 1', 'legacy', { stdio: 'agents py', http: 'go', sse: 'ai sdk' }),
  ...tapesOf('python 2', 'legacy', { stdio: 'langchain', http: 'fastmcp', sse: 'agents js' }),
  ...tapesOf('fastmcp', 'legacy', { stdio: 'python 2', http: 'langchain', sse: 'python 1' }),
  ...tapesOf('go', 'legacy', { stdio: 'fastmcp', http: 'python 1', sse: 'python 2' }),
  ...tapesOf('python 2', 'modern', { stdio: 'fastmcp', http: 'go' }),
  ...tapesOf('fastmcp', 'modern', { stdio: 'mastra', http: 'ai sdk' }),
  ...tapesOf('go', 'modern', { stdio: 'agents py' }), // over HTTP it speaks 2026-07-28 only without sessions
]

function tapesOf(server, era, recorders) {
  return Object.entries(recorders).map(([transport, recorder]) => ({ server, transport, recorder, era }))
}

/** Returns the rows of the table, each with the outcome for every client. */
export async function runMatrix(folder, isWanted = () => true) {
  mkdirSync(folder, { recursive: true })
  const rows = []
  for (const [at, row] of TAPES.entries()) {
    if (!isWanted(`${row.server} ${row.transport} ${row.era}`)) continue
    const made = await tried(() => recordTape(row, join(folder, `tape-${at + 1}.tape.jsonl`)))
    const clients = [...Object.keys(DRIVERS), ...Object.keys(CLIENTS)]
    const served = await Promise.all(
      clients.map(async (client, place) => {
        const spoken = transportsOf(client, row.era)
        const as = spoken.length === 0 ? LEGACY : undefined
        const transports = as ? transportsOf(client, 'legacy') : spoken
        const transport = transports[(at + place) % transports.length]
        const answers = made.error ? made : await tried(() => serveTape(row, made, client, transport, as))
        const isSame = isDeepStrictEqual(answers, made.answers)
        if (!isSame)
          console.log(`    ${client} over ${transport}: ${answers.error ?? JSON.stringify(answers)}`)
        return [client, isSame ? `${transport}${as ? ' ↓' : ''}` : 'FAILED']
      }),
    )
    const cells = Object.fromEntries(served)
    rows.push({ ...row, cells })
    keepResult(`${row.server} ${row.transport} ${row.era}`, { kind: 'row', ...row, cells })
    console.log(
      `${titleOf(row)}: ${Object.entries(cells)
        .map((cell) => cell.join(' '))
        .join(', ')}`,
    )
  }
  return rows
}

/** Returns one outcome for each framework and transport: recorded by `reelay run`, and replayed without the server. */
export async function runFrameworks(isWanted = () => true) {
  const outcomes = []
  for (const name of Object.keys(DRIVERS))
    for (const transport of TRANSPORTS) {
      if (!isWanted(`run ${name} ${transport}`) || whyNotRun(name, transport) !== undefined) continue
      const tape = `run-${name.replace(' ', '-')}-${transport}`
      const outcome = await tried(() => recordAndReplay(name, transport, tape))
      outcomes.push({ name, transport, isSame: outcome.isSame === true })
      keepResult(`run ${name} ${transport}`, { kind: 'run', ...outcomes.at(-1) })
      console.log(`reelay run, ${DRIVERS[name].title}, ${transport}: ${outcome.isSame ? 'same' : 'FAILED'}`)
      if (!outcome.isSame) console.log(`    ${outcome.error ?? JSON.stringify(outcome)}`)
    }
  return outcomes
}

/** Why a program cannot be recorded over a transport, for the table. */
function whyNotRun(name, transport) {
  const { lacks } = DRIVERS[name]
  return lacks === transport ? 'not supported by it' : undefined
}

async function recordAndReplay(name, transport, tape) {
  const { tasks } = SERVERS.everything
  const { target, stop } = await open('everything', transport, byName)
  // The PATH of the program is the one that `reelay run` sets.
  const env = { ...safeEnv(), PATH: undefined }
  const given = { ...target, transport, era: 'legacy', env, tasks }
  const order = [...DRIVERS[name].command, JSON.stringify(given)]
  const under = (way) => printed([process.execPath, main, 'run', way, tape, '--', ...order])
  let live
  try {
    live = await under('--record')
  } finally {
    await stop()
  }
  const played = await under('--replay')
  return { isSame: isDeepStrictEqual(live, played), live, played }
}

/** A server that is started by a name is found on the PATH. */
function byName([, ...args]) {
  return ['node', ...args]
}

async function recordTape({ server, transport, recorder, era }, tape) {
  const { tasks } = SERVERS[server]
  const { target, stop } = await open(server, transport, (command) => [...recording(tape), ...command])
  if (transport === 'stdio') return { tape, answers: await use(recorder, { target, transport, era, tasks }) }
  const proxy = await startRecorder({ url: target.url, tape })
  try {
    return { tape, answers: await use(recorder, { target: { url: proxy.url }, transport, era, tasks }) }
  } finally {
    await proxy.stop()
    await stop()
  }
}

async function serveTape({ server, era: recorded }, { tape }, client, transport, as) {
  const { tasks } = SERVERS[server]
  const era = as ? 'legacy' : recorded
  if (transport === 'stdio')
    return use(client, { target: { command: serving(tape, as) }, transport, era, tasks })
  const { url, stop } = await startPlayer({ tape, transport, as })
  try {
    return await use(client, { target: { url }, transport, era, tasks })
  } finally {
    await stop()
  }
}

/** Starts a server over a transport, or gives its command. */
async function open(server, transport, instead = (command) => command) {
  const port = await freePort()
  const command = SERVERS[server].command(transport, port)
  if (transport === 'stdio') return { target: { command: instead(command) }, stop: async () => {} }
  const child = start(command, {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = [child.stdout, child.stderr].map((stream) =>
    firstMatch(child, stream, /on port \d+|running on http/),
  )
  await Promise.any(said)
  for (const stream of [child.stdout, child.stderr]) stream.resume()
  return { target: { url: `http://127.0.0.1:${port}${PATHS[transport]}` }, stop: () => end(child) }
}

async function use(client, { target, transport, era, tasks }) {
  if (DRIVERS[client] === undefined) return useCli(client, { ...target, transport }, era, tasks)
  const order = JSON.stringify({ ...target, transport, era, env: safeEnv(), tasks })
  return printed([...DRIVERS[client].command, order])
}

/** The command-line clients take one task each. */
async function useCli(client, target, era, tasks) {
  const answers = []
  for (const task of tasks) {
    const value = await CLIENTS[client].use(target, task, era)
    answers.push(task.tool === undefined ? value : textOf(value))
  }
  return answers
}

function textOf({ content = [], result }) {
  const text = content.filter(({ type }) => type === 'text').map((part) => part.text)
  return content.length === 0 ? result : text.join('')
}

/** The transports over which a client speaks an era. */
function transportsOf(client, era) {
  const { modern = client === 'inspector' ? ['http', 'stdio'] : [], lacks } = DRIVERS[client] ?? {}
  return era === 'modern' ? modern : TRANSPORTS.filter((transport) => transport !== lacks)
}

function safeEnv() {
  const names = ['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'REELAY_HOME']
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

async function printed(command) {
  const child = start(command, { stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (chunk) => (text[name] += chunk))
  const patience = setTimeout(() => child.kill('SIGKILL'), 120_000)
  const code = await ended(child)
  clearTimeout(patience)
  try {
    return JSON.parse(text.stdout.trim().split('\n').at(-1))
  } catch {
    throw new Error(`${command[0]} … ended with ${code}: ${(text.stdout + text.stderr).slice(-1500)}`)
  }
}

async function tried(work) {
  try {
    return await work()
  } catch (error) {
    return { error: error.message }
  }
}

function titleOf({ server, transport, recorder, era }) {
  return `${SERVERS[server].title}, ${transport}, ${era}, recorded with ${DRIVERS[recorder].title}`
}

const BEGIN = '<!-- made by npm run interop -- --docs -->'
const END = '<!-- end of what npm run interop made -->'

/** Keeps the result of each row, so that rows can be run one by one. */
function keepResult(name, result) {
  mkdirSync(resultFolder, { recursive: true })
  writeFileSync(join(resultFolder, `${encodeURIComponent(name)}.json`), JSON.stringify(result))
}

/** Writes the tables of all results that were kept into the page of results. */
export function writeTables() {
  const results = readdirSync(resultFolder).map((name) =>
    JSON.parse(readFileSync(join(resultFolder, name), 'utf8')),
  )
  const rows = TAPES.flatMap((row) =>
    results.filter(({ cells, ...kept }) =>
      isDeepStrictEqual({ ...kept, cells }, { kind: 'row', ...row, cells }),
    ),
  )
  const outcomes = results.filter(({ kind }) => kind === 'run')
  const page = join(root, 'docs', 'explanation', 'interop.md')
  const text = readFileSync(page, 'utf8')
  const [before] = text.split(BEGIN)
  const [, after] = text.split(END)
  writeFileSync(page, `${before}${BEGIN}\n\n${tables(rows, outcomes)}\n\n${END}${after}`)
  runTool('oxfmt', [page])
}

function tables(rows, outcomes) {
  const clients = [...Object.keys(DRIVERS), ...Object.keys(CLIENTS)]
  const matrix = table(
    ['Server', 'Over', 'Era', 'Recorded with', ...clients],
    rows.map(({ server, transport, era, recorder, cells }) => [
      server,
      transport,
      era,
      recorder,
      ...clients.map((client) => cells[client] ?? ''),
    ]),
  )
  const names = Object.keys(DRIVERS).filter((name) => outcomes.some((one) => one.name === name))
  const run = table(
    ['`reelay run`', ...TRANSPORTS],
    names.map((name) => [
      DRIVERS[name].title,
      ...TRANSPORTS.map((transport) => {
        const one = outcomes.find((each) => each.name === name && each.transport === transport)
        return whyNotRun(name, transport) ?? (one?.isSame ? 'same' : 'FAILED')
      }),
    ]),
  )
  return `${matrix}\n\n${run}`
}

function table(head, lines) {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

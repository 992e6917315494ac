// npm run vary: varies recorded sessions of 12 servers with seeded bugs, beside calls that are generated from schemas alone with the
// same budget of calls and seconds; looks for 6 seeded leaks between sessions; and counts false alarms with three servers of others.
// `-- --bugs stale-list,close-twice` runs some, `--seconds 20` and `--calls 1000` change the budget, `--part bugs|isolation|alarms`
// runs one part.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { everything, filesystem, memory } from './interop/programs.mjs'
import { build, installWhenNeeded, root } from './run.mjs'
import { BUGS } from './vary/lists.mjs'
import { LEAKS } from './vary/notes.mjs'

const { values } = parseArgs({
  options: {
    part: { type: 'string' },
    bugs: { type: 'string' },
    calls: { type: 'string', default: '3000' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
})
installWhenNeeded()
if ((await build()) !== 0) process.exit(1)
const { fuzzBySchema } = await import('./vary/by-schema.mjs') // it needs the build

const REELAY = join(root, 'dist', 'cli', 'main.js')
const at = (name) => fileURLToPath(new URL(`vary/${name}`, import.meta.url))
const isChosen = (part) => values.part === undefined || values.part === part
const folder = mkdtempSync(join(tmpdir(), 'reelay-vary-bugs-'))
const env = { ...process.env, REELAY_HOME: join(folder, 'home') }
let isGood = true
try {
  if (isChosen('bugs')) await findBugs()
  if (isChosen('isolation')) await findLeaks()
  if (isChosen('alarms')) countAlarms()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = isGood ? 0 : 1

/** Variations beside generation from schemas. */
async function findBugs() {
  const [calls, seconds, seed] = [values.calls, values.seconds, values.seed].map(Number)
  const chosen = BUGS.filter((bug) => values.bugs === undefined || values.bugs.split(',').includes(bug))
  console.log('bug                    varied                          calls  by schema')
  let [varied, generated] = [0, 0]
  for (const bug of chosen) {
    const server = [process.execPath, at('lists.mjs'), bug]
    const tape = recorded(`${bug}.tape.jsonl`, at('shopper.mjs'), server)
    const report = variationsOf(tape, server, [
      '--allow-writes',
      '--no-shrink',
      '--seed',
      values.seed,
      '--variations',
      '100000',
      '--failures',
      '1',
      '--calls',
      String(calls),
      '--for',
      `${seconds}s`,
    ])
    const fuzzed = await fuzzBySchema(server, { calls, seconds, seed, callsPerSession: 32, timeout: 5000 })
    const found = report.failures.map(({ fails, call }) => `${fails} ${call.replace('tools/call ', '')}`)
    if (found.length > 0) varied++
    if (fuzzed.found.length > 0) generated++
    console.log(
      `${bug.padEnd(22)} ${(found[0] ?? 'nothing').padEnd(30)} ${String(report.calls).padStart(6)}  ${fuzzed.found[0] ?? 'nothing'}`,
    )
  }
  isGood &&= varied >= 2 * generated && varied > 0
  console.log(
    `\nvariations of a session find ${varied} of ${chosen.length} bugs, calls from schemas ${generated}, with at most ${calls} calls and ${seconds} s each\n`,
  )
}

function recorded(name, client, server) {
  const tape = join(folder, name)
  rmSync(tape, { force: true })
  execFileSync(
    process.execPath,
    [client, process.execPath, REELAY, 'record', '-q', '-o', tape, '--', ...server],
    { env },
  )
  return tape
}

function variationsOf(tape, server, options) {
  const run = reelay([
    'vary',
    tape,
    '--keep',
    join(folder, 'failures'),
    '--json',
    ...options,
    '--',
    ...server,
  ])
  if (run.stdout === '') throw new Error(run.stderr)
  return JSON.parse(run.stdout)
}

function reelay(args) {
  return spawnSync(process.execPath, [REELAY, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
}

/** Two sessions on one server: each leak is found, and a server without one is clean. */
async function findLeaks() {
  let found = 0
  for (const leak of [...LEAKS, 'none']) {
    const server = spawn(process.execPath, [at('notes.mjs'), leak], { stdio: ['ignore', 'pipe', 'inherit'] })
    const url = String((await once(server.stdout, 'data'))[0]).trim()
    const tape = join(folder, `${leak}.tape.jsonl`)
    await recordOverHttp(tape, url)
    const run = reelay([
      'isolate',
      tape,
      '--allow-writes',
      '--json',
      '--keep',
      join(folder, 'leaks'),
      '--url',
      url,
    ])
    server.kill()
    if (run.stdout === '') throw new Error(run.stderr)
    const { failures } = JSON.parse(run.stdout)
    if (failures.length > 0 === (leak !== 'none')) found++
    console.log(
      `${leak.padEnd(22)} ${failures.map(({ call }) => call.replace('tools/call ', '')).join(', ') || 'nothing'}`,
    )
  }
  isGood &&= found === LEAKS.length + 1
  console.log(`\nisolation is right about ${found} of ${LEAKS.length + 1} servers\n`)
}

async function recordOverHttp(tape, url) {
  const recorder = spawn(process.execPath, [REELAY, 'record', '-o', tape, '--url', url], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  for await (const chunk of recorder.stderr) {
    said += chunk
    if (/http:\/\/\S+:\d+\/\S*/.test(said)) break
  }
  const [own] = said
    .match(/http:\/\/(?:127\.0\.0\.1|localhost):\d+\/\S*/g)
    .filter((each) => !each.startsWith(url))
  execFileSync(process.execPath, [at('writer.mjs'), own], { env })
  recorder.kill('SIGINT')
  await once(recorder, 'exit')
}

/** Servers of others, with everything that they can do. Whatever is found is looked at: a failure may be one. */
function countAlarms() {
  const files = join(folder, 'files')
  mkdirSync(files)
  writeFileSync(join(files, 'notes.txt'), 'milk\nbread\n')
  let alarms = 0
  for (const { name, command, calls } of serversOfOthers(files)) {
    const tape = join(folder, `${name}.tape.jsonl`)
    execFileSync(
      process.execPath,
      [
        at('caller.mjs'),
        JSON.stringify(calls),
        process.execPath,
        REELAY,
        'record',
        '-q',
        '-o',
        tape,
        '--',
        ...command,
      ],
      { env },
    )
    const options = [
      '--allow-writes',
      '--seed',
      values.seed,
      '--variations',
      '100000',
      '--calls',
      values.calls,
      '--for',
      `${values.seconds}s`,
    ]
    const { failures, runs, calls: sent } = variationsOf(tape, command, options)
    alarms += failures.length
    console.log(`${name}: ${failures.length} failures in ${runs} variations with ${sent} calls`)
    for (const { fails, call, summary, variation } of failures)
      console.log(`  ${fails} ${call}: ${summary} (${variation.join('; ')})`)
  }
  isGood &&= alarms === 0
}

function serversOfOthers(files) {
  const notes = join(files, 'notes.txt')
  return [
    {
      name: 'server-everything',
      command: everything,
      calls: [
        ['echo', { message: 'hello' }],
        ['get-sum', { a: 1, b: 2 }],
        ['get-structured-content', { location: 'New York' }],
        ['get-tiny-image', {}],
        ['get-annotated-message', { messageType: 'error', includeImage: false }],
        ['get-resource-links', { count: 2 }],
        ['trigger-long-running-operation', { duration: 0.2, steps: 2 }],
      ],
    },
    {
      name: 'server-filesystem',
      command: [...filesystem, files],
      calls: [
        ['list_allowed_directories', {}],
        ['read_text_file', { path: notes, head: 1 }],
        ['list_directory', { path: files }],
        ['directory_tree', { path: files }],
        ['search_files', { path: files, pattern: '*.txt', excludePatterns: [] }],
        ['get_file_info', { path: notes }],
        ['write_file', { path: join(files, 'new.txt'), content: 'tea' }],
        [
          'edit_file',
          { path: join(files, 'new.txt'), edits: [{ oldText: 'tea', newText: 'milk' }], dryRun: false },
        ],
        ['move_file', { source: join(files, 'new.txt'), destination: join(files, 'moved.txt') }],
        ['read_multiple_files', { paths: [notes] }],
      ],
    },
    {
      name: 'server-memory',
      command: memory,
      calls: [
        [
          'create_entities',
          { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] },
        ],
        ['create_relations', { relations: [{ from: 'Ann', to: 'Ann', relationType: 'knows' }] }],
        ['add_observations', { observations: [{ entityName: 'Ann', contents: ['reads'] }] }],
        ['read_graph', {}],
        ['search_nodes', { query: 'tea' }],
        ['open_nodes', { names: ['Ann'] }],
        ['delete_observations', { deletions: [{ entityName: 'Ann', observations: ['reads'] }] }],
        ['delete_entities', { entityNames: ['Ann'] }],
      ],
    },
  ]
}

// npm run shrink: shrinks sessions with 50 seeded bugs, runs each capsule in a fresh folder, and prints the sizes beside the true
// minimum and beside ddmin. `-- --bugs state-1,time-46` runs some, `--calls 60` changes the length of the sessions, `--delay 100`
// makes every call of the server take that long.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build, installWhenNeeded, root } from './run.mjs'
import { BUGS, PLANTED, sessionCalls, Shop, smallestSession } from './shrink/shop.mjs'

const { values } = parseArgs({
  options: {
    bugs: { type: 'string' },
    calls: { type: 'string', default: '180' },
    delay: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
  },
})
installWhenNeeded()
if ((await build()) !== 0) process.exit(1)

const REELAY = join(root, 'dist', 'cli', 'main.js')
const at = (name) => fileURLToPath(new URL(`shrink/${name}`, import.meta.url))
const chosen = BUGS.filter(({ name }) => values.bugs === undefined || values.bugs.split(',').includes(name))
const rows = []
console.log('bug                      messages  truth  tries  seconds  ddmin tries  capsule')
for (const bug of chosen) {
  const row = { ...shrunk(bug), truth: smallestSession(bug), ddmin: await ddminTries(bug) }
  rows.push(row)
  console.log(
    `${bug.name.padEnd(24)} ${String(row.after ?? 'none').padStart(8)}  ${String(row.truth).padStart(5)}  ${String(row.probes).padStart(5)}  ${row.seconds.toFixed(1).padStart(7)}  ${String(row.ddmin).padStart(11)}  ${row.capsule}`,
  )
}
const minimal = rows.filter(({ after, truth }) => after === truth).length
const runs = rows.filter(({ capsule }) => capsule === 'fails again, fixed passes').length
const leaks = rows.reduce((sum, row) => sum + row.leaks, 0)
console.log(
  `\n${minimal} of ${rows.length} at the true minimum, median ${median(rows.map(({ probes }) => probes))} tries and ${median(rows.map(({ seconds }) => seconds)).toFixed(1)} s (ddmin, simulated: median ${median(rows.map(({ ddmin }) => ddmin))} tries); ${runs} of ${rows.length} capsules fail again, and pass with the fixed server; ${leaks} planted secrets in them`,
)
process.exitCode = minimal >= 0.95 * rows.length && runs === rows.length && leaks === 0 ? 0 : 1

function shrunk(bug) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-shrink-bugs-'))
  const env = { ...process.env, REELAY_HOME: join(folder, 'home') }
  const server = [process.execPath, at('server.mjs'), bug.name, values.delay]
  try {
    const record = [
      process.execPath,
      REELAY,
      'record',
      '-q',
      '-o',
      join(folder, 'bug.tape.jsonl'),
      '--',
      ...server,
    ]
    execFileSync(process.execPath, [at('client.mjs'), bug.name, values.calls, values.seed, ...record], {
      env,
    })
    const began = performance.now()
    const { stdout } = reelay(folder, env, [
      'shrink',
      'bug.tape.jsonl',
      '--fails',
      'is-error',
      '--allow-writes',
      '--json',
      '--',
      ...server,
    ])
    const seconds = (performance.now() - began) / 1000
    if (stdout === '') return { after: undefined, probes: 0, seconds, capsule: 'none', leaks: 0 }
    const { messages, probes, capsules } = JSON.parse(stdout)
    return {
      after: messages.after,
      probes,
      seconds,
      capsule: capsuleRuns(capsules[0], env, server),
      leaks: capsules.reduce((sum, file) => sum + leaksIn(file), 0),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Counts the planted secrets in the text of a capsule and in the tape that is packed in it. */
function leaksIn(file) {
  const text = readFileSync(file, 'utf8')
  const packed = /(?:reelay-capsule-tape">|\n)(H4sI[\w+/=]+)/.exec(text)?.[1]
  if (packed === undefined) throw new Error(`${file} contains no tape`)
  const all = text + gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')
  return PLANTED.filter((secret) => all.includes(secret)).length
}

/** Runs a capsule in another folder, against the server with the bug and without it. */
function capsuleRuns(file, env, server) {
  const fresh = mkdtempSync(join(tmpdir(), 'reelay-capsule-run-'))
  try {
    const run = (...command) =>
      reelay(fresh, env, ['capsule', 'run', file, '--allow-writes', '--', ...command]).status
    const fixed = server.with(2, 'none')
    return run(...server) === 1 && run(...fixed) === 0 ? 'fails again, fixed passes' : 'WRONG'
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function reelay(cwd, env, args) {
  return spawnSync(process.execPath, [REELAY, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
}

/** The tries that ddmin needs for the same session, in a simulation without processes. It knows no data flow. */
async function ddminTries(bug) {
  const calls = sessionCalls(bug, Number(values.calls), Number(values.seed))
  let tries = 0
  const fails = async (kept) => {
    tries++
    return simulate(bug, calls, kept)
  }
  let current = calls.map((_, index) => index)
  for (let parts = 2; current.length >= 2;) {
    const size = Math.ceil(current.length / parts)
    const chunks = Array.from({ length: parts }, (_, part) =>
      current.slice(part * size, (part + 1) * size),
    ).filter(({ length }) => length > 0)
    const smaller = await firstThat(fails, [
      ...chunks,
      ...chunks.map((chunk) => current.filter((each) => !chunk.includes(each))),
    ])
    if (smaller !== undefined) {
      parts = chunks.includes(smaller) ? 2 : Math.max(parts - 1, 2)
      current = smaller
    } else if (parts >= current.length) break
    else parts = Math.min(current.length, parts * 2)
  }
  return tries
}

async function firstThat(fails, candidates) {
  for (const candidate of candidates) if (await fails(candidate)) return candidate
  return undefined
}

async function simulate(bug, calls, kept) {
  let now = 0
  const shop = new Shop(bug, () => now)
  const orders = []
  const left = new Set(kept)
  const open = []
  let failure = false
  for (const [index, { name, order, given, isParallel, pause = 0 }] of calls.entries()) {
    if (!left.has(index)) {
      if (name === 'create') orders.push(undefined)
      continue
    }
    now += pause
    const id = order === undefined ? {} : { id: orders[order] }
    const answered = shop.call(
      name,
      { ...id, ...given },
      () => new Promise((resolve) => void setImmediate(resolve)),
    )
    if (isParallel) {
      open.push(answered)
      continue
    }
    const result = await answered
    if (name === 'create') orders.push(result.structuredContent.id)
    failure ||= result.isError === true && result.content[0].text.startsWith('internal')
  }
  await Promise.all(open)
  return failure
}

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0
}

// npm run interop: clients and servers that we did not write, over every transport, directly and recorded.
// One line for each pair; exit 1 when a recorded one gets another result or its tape lacks something, 3 when it could not run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CLIENTS } from './interop/clients.mjs'
import { installPrograms } from './interop/programs.mjs'
import { SERVERS } from './interop/servers.mjs'
import { troublesOn } from './interop/tape-check.mjs'
import { WAYS } from './interop/ways.mjs'
import { build, installWhenNeeded } from './run.mjs'

const BOTH = ['inspector', 'mcporter']
const PAIRS = [
  ...BOTH.map((client) => ({ client, server: 'everything', transport: 'stdio' })),
  ...BOTH.map((client) => ({ client, server: 'everything', transport: 'http' })),
  ...BOTH.map((client) => ({ client, server: 'everything', transport: 'sse' })),
  ...BOTH.map((client) => ({ client, server: 'filesystem', transport: 'stdio' })),
  ...BOTH.map((client) => ({ client, server: 'memory', transport: 'stdio' })),
  ...BOTH.map((client) => ({ client, server: 'proxy', transport: 'http' })),
  { client: 'inspector', server: 'proxy', transport: 'http', era: 'modern' },
  ...BOTH.map((client) => ({ client, server: 'proxy', transport: 'sse' })),
  { client: 'inspector', server: 'proxy', transport: 'stdio' },
]

installWhenNeeded()
installPrograms()
if ((await build()) !== 0) process.exit(1)
const scratch = mkdtempSync(join(tmpdir(), 'reelay-interop-'))
// The clients look for configs and leave their own in the home folder.
for (const name of ['HOME', 'USERPROFILE', 'REELAY_HOME']) process.env[name] = scratch
let failed = 0
try {
  for (const [at, pair] of PAIRS.entries())
    if (!(await judge(pair, join(scratch, `pair-${at + 1}`)))) failed++
} catch (error) {
  console.error(`interop: could not run: ${error.message}`)
  process.exit(3)
}
console.log(`\n${PAIRS.length - failed} pairs the same, ${failed} different`)
if (failed > 0) console.log(`the tapes are in ${scratch}`)
else rmSync(scratch, { recursive: true })
process.exitCode = failed === 0 ? 0 : 1

async function judge(pair, folder) {
  const direct = await runThrough('direct', pair, folder)
  const recorded = await runThrough('recorded', pair, folder)
  const troubles = [...differences(pair, direct.answers, recorded.answers), ...recorded.troubles]
  const verdict = troubles.length === 0 ? `same, ${recorded.exchanges} exchanges on tape` : 'DIFFERENT'
  console.log(`${titleOf(pair).padEnd(96)} ${verdict}`)
  for (const trouble of troubles) console.log(`    ${trouble}`)
  return troubles.length === 0
}

async function runThrough(way, { client, server, transport, era = 'legacy' }, folder) {
  const { tasks } = SERVERS[server]
  const { target, stop, readTapes = () => [] } = await WAYS[way](SERVERS[server], transport, folder)
  const answers = []
  try {
    for (const task of tasks) answers.push(await CLIENTS[client].use(target, task, era))
  } finally {
    await stop()
  }
  const tapes = readTapes()
  const troubles = tapes.length === 0 ? [] : troublesOn(tapes, { tasks, answers, era })
  return { answers, troubles, exchanges: tapes.flatMap((tape) => tape.exchanges).length }
}

function differences({ server }, direct, recorded) {
  const { tasks } = SERVERS[server]
  return tasks
    .filter((_, at) => !isDeepStrictEqual(direct[at], recorded[at]))
    .map(({ tool = 'tools/list' }) => `${tool} brings another result when it is recorded`)
}

function titleOf({ client, server, transport, era }) {
  const link = { stdio: 'stdio', http: 'Streamable HTTP', sse: 'HTTP+SSE' }[transport]
  const age = era === 'modern' ? ', 2026-07-28' : ''
  return `${CLIENTS[client].title} → ${SERVERS[server].title}, ${link}${age}`
}

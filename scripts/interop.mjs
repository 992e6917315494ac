// npm run interop: clients and servers that we did not write, over every transport: directly, recorded, and with a tape for a server.
// One line for each pair; exit 1 when one gets another result than directly or its tape lacks something, 3 when it could not run.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { CLIENTS } from './interop/clients.mjs'
import { installEcosystem } from './interop/ecosystem.mjs'
import { runHeldCalls } from './interop/held.mjs'
import { runFrameworks, runMatrix, writeTables } from './interop/matrix.mjs'
import { everything, installPrograms } from './interop/programs.mjs'
import { SERVERS } from './interop/servers.mjs'
import { troublesOn } from './interop/tape-check.mjs'
import { typescriptTroubles } from './interop/typescript-config.mjs'
import { tapeIn, WAYS } from './interop/ways.mjs'
import { build, installWhenNeeded } from './run.mjs'

const BOTH = ['inspector', 'mcporter']
// What is served is what the same client recorded, over every transport: the server has other tools for clients of other capabilities.
const EVERYTHING = BOTH.map((client) => ({ client, server: 'everything', transport: 'http' }))
const MODERN = { client: 'inspector', server: 'proxy', transport: 'http', era: 'modern' }
const CHAIN = { client: 'inspector', server: 'proxy', transport: 'stdio' }
const PAIRS = [
  ...['stdio', 'http', 'sse'].flatMap((transport) =>
    EVERYTHING.map((served) => ({ ...served, transport, served })),
  ),
  ...BOTH.map((client) => ({ client, server: 'filesystem', transport: 'stdio' })),
  ...BOTH.map((client) => ({ client, server: 'memory', transport: 'stdio' })),
  ...BOTH.map((client) => ({ client, server: 'proxy', transport: 'http' })),
  { ...MODERN, served: MODERN },
  ...BOTH.map((client) => ({ client, server: 'proxy', transport: 'sse' })),
  { ...CHAIN, served: CHAIN },
]

const { values: options } = parseArgs({
  options: {
    pairs: { type: 'boolean' },
    matrix: { type: 'boolean' },
    only: { type: 'string' },
    docs: { type: 'boolean' },
    held: { type: 'boolean' },
  },
})
const isWanted = (name) => options.only === undefined || name.includes(options.only)

installWhenNeeded()
installPrograms()
installEcosystem()
// Another build that is put to the test is not ours to make.
if (process.env.REELAY_MAIN === undefined && (await build()) !== 0) process.exit(1)
const scratch = mkdtempSync(join(tmpdir(), 'reelay-interop-'))
// The clients look for configs and leave their own in the home folder.
for (const name of ['HOME', 'USERPROFILE', 'REELAY_HOME']) process.env[name] = scratch
if (options.held === true) {
  const isMet = await runHeldCalls(join(scratch, 'held'))
  // A recorder that a client has started may still be writing the end of its tape.
  rmSync(scratch, { recursive: true, force: true, maxRetries: 20 })
  process.exit(isMet ? 0 : 1)
}
let failed = 0
let isTypeScriptLoaded = options.matrix === true
let tables = { rows: [], outcomes: [] }
try {
  if (options.matrix !== true) {
    for (const [at, pair] of PAIRS.entries())
      if (!(await judge(pair, join(scratch, `pair-${at + 1}`)))) failed++
    isTypeScriptLoaded = await judgeTypeScript()
  }
  if (options.pairs !== true) {
    const rows = await runMatrix(join(scratch, 'matrix'), isWanted)
    tables = { rows, outcomes: await runFrameworks(isWanted) }
  }
} catch (error) {
  console.error(`interop: could not run: ${error.message}`)
  process.exit(3)
}
if (options.matrix !== true) console.log(`\n${PAIRS.length - failed} pairs the same, ${failed} different`)
const cells = [
  ...tables.rows.flatMap((row) => Object.values(row.cells).map((cell) => cell !== 'FAILED')),
  ...tables.outcomes.map(({ isSame }) => isSame),
]
const lost = cells.filter((isSame) => !isSame).length
console.log(`${cells.length - lost} of ${cells.length} served or replayed the same`)
if (options.docs === true) writeTables()
const isGood = failed === 0 && lost === 0 && isTypeScriptLoaded
if (!isGood) console.log(`the tapes are in ${scratch}`)
else rmSync(scratch, { recursive: true })
process.exitCode = isGood ? 0 : 1

async function judge(pair, folder) {
  const direct = await runThrough('direct', pair)
  const recorded = await runThrough('recorded', pair, folder)
  const troubles = [...differences('recorded', pair, direct, recorded), ...recorded.troubles]
  if (pair.served !== undefined) {
    const served = await runThrough('served', pair, await tapeOf(pair.served))
    troubles.push(...differences('served', pair, direct, served))
  }
  console.log(`${titleOf(pair).padEnd(98)} ${verdictOn(pair, recorded, troubles)}`)
  for (const trouble of troubles) console.log(`    ${trouble}`)
  return troubles.length === 0
}

/** The newer Node is here for the programs: it runs us too, with what only it can load. */
async function judgeTypeScript() {
  const tape = await tapeOf(EVERYTHING[0]) // over stdio each call has a tape of its own
  const server = [...everything, 'stdio']
  const troubles = typescriptTroubles({ tape, tool: 'echo', server, folder: join(scratch, 'typescript') })
  console.log(
    `${'reelay.config.ts on a newer Node'.padEnd(98)} ${troubles.length > 0 ? 'NOT AS IT SHOULD BE' : 'loaded, its functions used; an enum refused with a hint'}`,
  )
  for (const trouble of troubles) console.log(`    ${trouble}`)
  return troubles.length === 0
}

function verdictOn({ served }, { exchanges }, troubles) {
  if (troubles.length > 0) return 'DIFFERENT'
  return `same, ${exchanges} exchanges on tape${served === undefined ? '' : '; same when served'}`
}

/** The tape of a pair, recorded when it is first wanted. */
async function tapeOf(pair) {
  const { client, server, transport } = pair
  const folder = join(scratch, [client, server, transport].join('-'))
  if (!existsSync(folder)) await runThrough('recorded', pair, folder)
  return tapeIn(folder)
}

/** `place` is where the tapes of a recording go, and the tape to serve. */
async function runThrough(way, { client, server, transport, era = 'legacy' }, place) {
  const { tasks } = SERVERS[server]
  const { target, stop, readTapes = () => [] } = await WAYS[way](SERVERS[server], transport, place)
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

function differences(way, { server }, direct, other) {
  const { tasks } = SERVERS[server]
  return tasks
    .filter((_, at) => !isDeepStrictEqual(direct.answers[at], other.answers[at]))
    .map(({ tool = 'tools/list' }) => `${tool} brings another result when it is ${way}`)
}

function titleOf({ client, server, transport, era }) {
  const link = { stdio: 'stdio', http: 'Streamable HTTP', sse: 'HTTP+SSE' }[transport]
  const age = era === 'modern' ? ', 2026-07-28' : ''
  return `${CLIENTS[client].title} → ${SERVERS[server].title}, ${link}${age}`
}

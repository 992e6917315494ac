// npm run conformance: the official suite without the recorder, through its reverse and its forward proxy, check for check.
// Exit 1 on any difference, 3 when it could not run.
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runClientSide } from './conformance/client-side.mjs'
import { compareRuns, WAYS } from './conformance/compare.mjs'
import { printRows, printVerdicts } from './conformance/report.mjs'
import { PLAIN_ONLY, runServerSide } from './conformance/server-side.mjs'
import { startEverything, startFixture, startSecureFixture } from './conformance/servers.mjs'
import { installSuite, SUITE } from './conformance/suite.mjs'
import { NODE } from './pinned.mjs'
import { createCa } from './recorder.mjs'
import { build, installWhenNeeded } from './run.mjs'

const server = (start, requirements) => (options) => runServerSide({ start, requirements, ...options })
const secure = (requirements) => (options) =>
  runServerSide({ start: startSecureFixture, requirements, leavesOut: PLAIN_ONLY, ...options })
const client = (requirements) => (options) => runClientSide({ requirements, ...options })
const SUBJECTS = [
  { name: 'server-everything, 2025-11-25', runOnce: server(startEverything, '2025-11-25') },
  { name: 'fixture server, 2025-11-25', runOnce: server(startFixture, '2025-11-25') },
  { name: 'fixture server, 2026-07-28', runOnce: server(startFixture, '2026-07-28') },
  { name: 'fixture server over HTTPS, 2025-11-25', runOnce: secure('2025-11-25') },
  { name: 'fixture server over HTTPS, 2026-07-28', runOnce: secure('2026-07-28') },
  { name: 'fixture client, 2025-11-25', runOnce: client('2025-11-25') },
  { name: 'fixture client, 2026-07-28', runOnce: client('2026-07-28') },
]

installWhenNeeded()
installSuite()
if ((await build()) !== 0) process.exit(1)
console.log(
  `${SUITE.name}@${SUITE.version} on Node ${NODE.version}, recorder on Node ${process.versions.node}`,
)
const scratch = mkdtempSync(join(tmpdir(), 'reelay-conformance-'))
process.env.REELAY_HOME = join(scratch, 'home')
const compared = []
try {
  createCa()
  for (const subject of SUBJECTS) compared.push(await compareSubject(subject))
} catch (error) {
  console.error(`conformance: could not run: ${error.message}`)
  process.exit(3)
}
const rows = compared.flatMap((each) => each.rows)
const allTroubles = compared.flatMap((each) => each.troubles)
printVerdicts(rows, allTroubles)
if (allTroubles.length > 0 || rows.some(({ verdict }) => verdict === 'DIFFERENT')) {
  console.log(`what the suite said and the tapes are in ${scratch}`)
  process.exitCode = 1
} else rmSync(scratch, { recursive: true })

async function compareSubject({ name, runOnce }) {
  const runs = {}
  for (const way of ['direct', 'again', ...WAYS]) runs[way] = await runLogged(runOnce, way)
  const results = Object.fromEntries(Object.entries(runs).map(([way, run]) => [way, run.results]))
  const subjectRows = compareRuns(results)
  printRows(name, subjectRows)
  const found = [...Object.values(runs).flatMap((run) => run.troubles), ...oddEnds(runs)]
  return { rows: subjectRows, troubles: found.map((trouble) => `${name}: ${trouble}`) }
}

async function runLogged(runOnce, way) {
  const folder = mkdtempSync(join(scratch, `${way}-`))
  const log = openSync(join(folder, 'suite.log'), 'w')
  try {
    return await runOnce({ way, folder, log })
  } finally {
    closeSync(log)
  }
}

/** The suite's own verdicts, and a run that cannot have gone well because it has no results. */
function oddEnds({ direct, again, ...recorded }) {
  const odd = Object.keys(direct.results).length === 0 ? ['the suite left no results'] : []
  const [before, twice] = [direct, again].map(worst)
  if (before !== twice) return odd
  for (const way of WAYS)
    if (worst(recorded[way]) !== before)
      odd.push(
        `the suite ended with ${before} directly, with ${worst(recorded[way])} recorded (${way} proxy)`,
      )
  return odd
}

/** A way may take several runs of the suite for what another does in one. */
function worst({ exits }) {
  return exits.find((exit) => exit !== 0) ?? 0
}

// npm run conformance: the official suite with and without the recorder, check for check.
// Exit 1 on any difference, 3 when it could not run.
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runClientSide } from './conformance/client-side.mjs'
import { compareRuns } from './conformance/compare.mjs'
import { printRows, printVerdicts } from './conformance/report.mjs'
import { runServerSide } from './conformance/server-side.mjs'
import { startEverything, startFixture } from './conformance/servers.mjs'
import { installSuite, NODE, SUITE } from './conformance/suite.mjs'
import { build, installWhenNeeded } from './run.mjs'

const server = (start, requirements) => (options) => runServerSide({ start, requirements, ...options })
const client = (requirements) => (options) => runClientSide({ requirements, ...options })
const SUBJECTS = [
  { name: 'server-everything, 2025-11-25', runOnce: server(startEverything, '2025-11-25') },
  { name: 'fixture server, 2025-11-25', runOnce: server(startFixture, '2025-11-25') },
  { name: 'fixture server, 2026-07-28', runOnce: server(startFixture, '2026-07-28') },
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
const compared = []
try {
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
  for (const which of ['direct', 'again', 'recorded']) runs[which] = await runLogged(runOnce, which)
  const { direct, again, recorded } = runs
  const results = { direct: direct.results, again: again.results, recorded: recorded.results }
  const subjectRows = compareRuns(results)
  printRows(name, subjectRows)
  const troubles = [...recorded.troubles, ...oddEnds(runs)].map((trouble) => `${name}: ${trouble}`)
  return { rows: subjectRows, troubles }
}

async function runLogged(runOnce, which) {
  const folder = mkdtempSync(join(scratch, `${which}-`))
  const log = openSync(join(folder, 'suite.log'), 'w')
  try {
    return await runOnce({ recorded: which === 'recorded', folder, log })
  } finally {
    closeSync(log)
  }
}

/** The suite's own verdicts, and a run that cannot have gone well because it has no results. */
function oddEnds({ direct, again, recorded }) {
  const odd = Object.keys(direct.results).length === 0 ? ['the suite left no results'] : []
  const [before, twice, after] = [direct, again, recorded].map(({ exits }) => exits.join(' '))
  if (before === twice && before !== after)
    odd.push(`the suite ended with ${before} directly, with ${after} recorded`)
  return odd
}

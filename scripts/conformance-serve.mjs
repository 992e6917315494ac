// npm run conformance:serve: the official suite against a server while it is recorded, then against its tape, check for check.
// Exit 1 on any difference, 3 when it could not run.
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareRuns } from './conformance/compare.mjs'
import { printRows } from './conformance/report.mjs'
import { recordAndServe } from './conformance/serve-side.mjs'
import { startEverything, startFixture } from './conformance/servers.mjs'
import { installSuite, SUITE } from './conformance/suite.mjs'
import { NODE } from './pinned.mjs'
import { build, installWhenNeeded } from './run.mjs'

const SUBJECTS = [
  { name: 'fixture server, 2025-11-25', startServer: startFixture, requirements: '2025-11-25' },
  { name: 'fixture server, 2026-07-28', startServer: startFixture, requirements: '2026-07-28' },
  { name: 'server-everything, 2025-11-25', startServer: startEverything, requirements: '2025-11-25' },
]

installWhenNeeded()
installSuite()
if ((await build()) !== 0) process.exit(1)
console.log(`${SUITE.name}@${SUITE.version} on Node ${NODE.version}, Reelay on Node ${process.versions.node}`)
const scratch = mkdtempSync(join(tmpdir(), 'reelay-conformance-serve-'))
// A served tape ends sessions and keeps strangers out by itself, so a server that does neither scores better from its tape.
const OURS = /^(server-session-terminated-returns-404|localhost-host-rebinding-rejected) /
let isDifferent = false
try {
  for (const subject of SUBJECTS) isDifferent = (await isSubjectDifferent(subject)) || isDifferent
} catch (error) {
  console.error(`conformance: could not run: ${error.message}`)
  process.exit(3)
}
if (isDifferent) {
  console.log(`what the suite said and the tapes are in ${scratch}`)
  process.exitCode = 1
} else rmSync(scratch, { recursive: true })

async function isSubjectDifferent({ name, startServer, requirements }) {
  const folder = join(scratch, name.replaceAll(/[ ,]+/g, '-'))
  mkdirSync(folder)
  const log = openSync(join(folder, 'suite.log'), 'w')
  const { live, served, account, troubles } = await recordAndServe({ startServer, requirements, folder, log })
  closeSync(log)
  const rows = compareRuns({ direct: live.results, again: live.results, served: served.results }).map(asOurs)
  printRows(name, rows, { direct: 'live' })
  console.log(account.said.slice(account.said.indexOf('\nreelay serve:')).trim().replaceAll(/^/gm, '  '))
  for (const trouble of troubles) console.log(`TROUBLE: ${trouble}`)
  return (
    troubles.length > 0 || live.exit !== served.exit || rows.some(({ verdict }) => verdict === 'DIFFERENT')
  )
}

function asOurs(row) {
  return row.verdict === 'DIFFERENT' && row.differences.every(isOurs) ? { ...row, verdict: 'better' } : row
}

function isOurs({ check, direct, recorded }) {
  return OURS.test(check) && direct === 'FAILURE' && recorded === 'SUCCESS'
}

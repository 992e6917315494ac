// npm run eras: plays recordings of one protocol era against servers of the other. The official suite is recorded with the conformance
// fixture in both eras, and one program with SDK 1 and SDK 2. Prints how many exchanges are the same or translated right, and the class of
// the others. `-- --only program` or `-- --only conformance` runs a part.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, closeSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startFixture } from './conformance/servers.mjs'
import { installSuite, runSuite } from './conformance/suite.mjs'
import { main, recording, startRecorder } from './recorder.mjs'
import { build, installWhenNeeded, root } from './run.mjs'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
installWhenNeeded()
if ((await build()) !== 0) process.exit(1)
const folder = mkdtempSync(join(tmpdir(), 'reelay-eras-'))
process.env.REELAY_HOME = join(folder, 'home')
const OTHER = { '2025-11-25': '2026-07-28', '2026-07-28': '2025-11-25' }
const rows = []
console.log(
  'recording                                    exchanges  right  differ  tasks  dropped  no equivalent',
)
try {
  if (values.only !== 'program') await playSuite()
  if (values.only !== 'conformance') playProgram()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const sum = (name) => rows.reduce((all, row) => all + row[name], 0)
const rate = (100 * sum('right')) / (sum('right') + sum('differ'))
console.log(
  `\n${sum('right')} of ${sum('right') + sum('differ')} exchanges that have an equivalent are the same or translated right (${rate.toFixed(1)} %); ${sum('tasks')} use tasks, which the other server does not have; ${sum('dropped')} are dropped by the specification, ${sum('none')} have no equivalent`,
)
process.exitCode = rate >= 95 ? 0 : 1

/** The suite of each era, against a server of both eras. */
async function playSuite() {
  installSuite()
  for (const version of Object.keys(OTHER)) {
    const tape = join(folder, `suite-${version}.tape.jsonl`)
    const log = openSync(join(folder, 'suite.log'), 'w')
    const recorded = await startFixture({ CONFORMANCE_ONE_PROGRAM: '1' })
    const recorder = await startRecorder({ url: recorded.url, tape })
    await runSuite(
      ['server', '--url', recorder.url, '--requirements', version, '-o', join(folder, version)],
      { log },
    )
    await recorder.stop()
    await recorded.stop()
    closeSync(log)
    const fresh = await startFixture({ CONFORMANCE_ONE_PROGRAM: '1' })
    addRow(`conformance ${version} as ${OTHER[version]}`, tape, version, ['--url', fresh.url])
    await fresh.stop()
  }
}

function program(kind, ...args) {
  return [process.execPath, join(root, 'test', 'fixtures', kind, 'one-program.mjs'), ...args]
}

/** One program with both SDKs; SDK 1 has only the older era. */
function playProgram() {
  for (const [era, sdk, version, other] of [
    ['legacy', 'v1', '2025-11-25', 'v2'],
    ['legacy', 'v2', '2025-11-25', 'v2'],
    ['modern', 'v2', '2026-07-28', 'v2'],
    ['modern', 'v2', '2026-07-28', 'v1'],
  ]) {
    const tape = join(folder, `${era}-${sdk}-${other}.tape.jsonl`)
    const [node, ...args] = program('clients', era, ...recording(tape), ...program('servers', sdk))
    execFileSync(node, args)
    addRow(`SDK ${sdk} ${version} as ${OTHER[version]}, SDK ${other}`, tape, version, [
      '--',
      ...program('servers', other),
    ])
  }
}

function addRow(name, tape, version, target) {
  const as = ['--as', OTHER[version], '--allow-writes', '--repeat', '1', '--json', '--no-config']
  const { steps } = reelay('verify', tape, ...as, ...target)
  const { summary, turns } = reelay('lint', tape, '--for', OTHER[version], '--json')
  // SDK v2 has no tasks for sessions, so the fixture has none there: these exchanges are counted apart.
  const ofTasks = new Set(
    turns.filter(({ rules }) => rules.includes('era-task-extension')).map(({ exchange }) => exchange),
  )
  const played = steps.filter(({ exchange, state }) => exchange !== undefined && state !== 'skipped')
  const judged = played.filter(({ exchange }) => !ofTasks.has(exchange))
  const wrong = judged.filter(
    ({ state, findings }) => state !== 'done' || findings.some(({ level }) => level === 'error'),
  )
  const row = {
    right: judged.length - wrong.length,
    differ: wrong.length,
    tasks: played.length - judged.length,
    dropped: summary.dropped,
    none: summary['no equivalent'],
  }
  rows.push(row)
  const total = Object.values(summary).reduce((all, count) => all + count, 0)
  const columns = [total, row.right, row.differ, row.tasks, row.dropped, row.none]
  console.log(
    `${name.padEnd(44)} ${columns.map((value, at) => String(value).padStart([9, 5, 6, 5, 7, 13][at])).join('  ')}`,
  )
  for (const { exchange, method, tool, state, findings } of wrong)
    console.log(
      `  #${exchange} ${method} ${tool ?? ''} ${state}: ${findings.map(({ layer, path, message }) => `${layer} ${path ?? ''} ${message}`).join('; ')}`,
    )
}

function reelay(...args) {
  const { stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

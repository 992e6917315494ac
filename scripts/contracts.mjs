// `npm run contracts`: how far the verdicts of `reelay diff` and `reelay contract` can be trusted, in figures, on labelled pairs of schemas, of
// sessions and of descriptions. `--beside` asks json-schema-diff and jsonsubschema about the same schemas, where they can be installed.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { peer } from '../bench/peer.mjs'
import { DESCRIPTION_PAIRS, OTHER_TOOLS } from './contracts/description-pairs.mjs'
import { RESULT_PAIRS } from './contracts/result-pairs.mjs'
import { SCHEMA_PAIRS } from './contracts/schema-pairs.mjs'
import { build, installWhenNeeded, root } from './run.mjs'

const { values: options } = parseArgs({
  options: {
    beside: { type: 'boolean', default: false },
    verbose: { type: 'boolean', short: 'v', default: false },
  },
})
installWhenNeeded()
if (process.env.REELAY_BUILT === undefined && (await build()) !== 0) process.exit(1)
const { compareSchemas } = await import('../dist/schemas/compatibility.js')
const { descriptionFindings } = await import('../dist/compare/descriptions.js')
const { diffTapes } = await import('../dist/compare/diff-tapes.js')

const goals = [...schemas(), ...(await results()), ...descriptions()]
if (options.beside) await beside()
for (const [what, isMet] of goals) console.log(`${isMet ? 'met    ' : 'NOT MET'}  ${what}`)
process.exitCode = goals.every(([, isMet]) => isMet) ? 0 : 1

function pairsLabelled(label) {
  return SCHEMA_PAIRS.filter((pair) => pair[1] === label).length
}

function schemas() {
  const counts = { falseSafe: 0, falseBreaking: 0, unknown: 0, witnesses: 0 }
  let slowest = 0
  for (const [name, label, before, after] of SCHEMA_PAIRS) {
    const began = performance.now()
    const verdict = compareSchemas(before, after)
    slowest = Math.max(slowest, performance.now() - began)
    const said = { same: 'compatible', safe: 'compatible' }[verdict.kind] ?? verdict.kind
    if (said === 'compatible' && label !== 'compatible') counts.falseSafe++
    if (said === 'breaking' && label !== 'breaking') counts.falseBreaking++
    if (said === 'unknown' && label !== 'unknown') counts.unknown++
    if (said === 'breaking' && label === 'breaking') counts.witnesses++
    const detail = verdict.witnesses?.map(({ value }) => value) ?? verdict.obstacle ?? ''
    show(said === label, `${name}: ${label}, said ${said} ${JSON.stringify(detail).slice(0, 120)}`)
  }
  const [compatible, breaking, unknown] = ['compatible', 'breaking', 'unknown'].map(pairsLabelled)
  console.log(
    `\n${SCHEMA_PAIRS.length} pairs of schemas: ${compatible} compatible, ${breaking} breaking, ${unknown} that nobody can decide`,
  )
  console.log(
    `  false "safe" ${counts.falseSafe}, false "breaking" ${counts.falseBreaking}, unknown ${counts.unknown} of ${compatible + breaking}, breaking with a witness ${counts.witnesses} of ${breaking}; slowest ${slowest.toFixed(0)} ms\n`,
  )
  return [
    ['at least 120 pairs of schemas', SCHEMA_PAIRS.length >= 120],
    ['no false "safe"', counts.falseSafe === 0],
    ['at least 95 % of the breaking ones with a witness', counts.witnesses >= 0.95 * breaking],
    ['at most 10 % unknown', counts.unknown <= 0.1 * (compatible + breaking)],
  ]
}

async function results() {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-contracts-'))
  let right = 0
  try {
    for (const [at, [name, label, before, after]] of RESULT_PAIRS.entries()) {
      const [one, other] = [before, after].map((calls, side) =>
        tapeOf(join(folder, `${at}-${side}.tape.jsonl`), calls),
      )
      const diff = await diffTapes(one, other)
      const { breaking, modified, added, removed } = diff.summary
      const said = breaking > 0 ? 'breaking' : modified + added + removed > 0 ? 'change' : 'same'
      if (said === label) right++
      const rules = diff.exchanges.flatMap(({ findings }) =>
        findings.map(({ rule, path = '' }) => `${rule} ${path}`),
      )
      show(said === label, `${name}: ${label}, said ${said} (${rules.join(', ')})`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  console.log(`\n${RESULT_PAIRS.length} pairs of sessions: ${right} right\n`)
  return [
    ['at least 60 pairs of sessions', RESULT_PAIRS.length >= 60],
    ['all of them right', right === RESULT_PAIRS.length],
  ]
}

/** Writes a tape with these calls: [tool, arguments, result or { error }]. */
function tapeOf(path, calls) {
  const header = {
    reelay: 1,
    id: '01KA2B3C4D5E6F7G8H9JKMNPQR',
    started: '1970-01-01T00:00:00.000Z',
    by: 'reelay',
    servers: { s: { transport: 'stdio' } },
  }
  const frames = calls.flatMap(([name, values, result], id) => [
    { dir: 'c2s', msg: { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: values } } },
    { dir: 's2c', msg: { jsonrpc: '2.0', id, ...(result.error ? result : { result }) } },
  ])
  const lines = frames.map(({ dir, msg }, at) =>
    JSON.stringify({ n: at + 1, t: at, server: 's', conn: 1, dir, msg }),
  )
  writeFileSync(path, [JSON.stringify(header), ...lines, ''].join('\n'))
  return path
}

function descriptions() {
  const counts = { poisoned: 0, found: 0, benign: 0, alarms: 0 }
  for (const [label, before, after] of DESCRIPTION_PAIRS) {
    const findings = descriptionFindings(before, after, {
      subject: 'tool x',
      path: 'description',
      others: OTHER_TOOLS,
    })
    const isAlarm = findings.some(({ level }) => level === 'security')
    counts[label]++
    if (label === 'poisoned' && isAlarm) counts.found++
    if (label === 'benign' && isAlarm) counts.alarms++
    show(
      (label === 'poisoned') === isAlarm,
      `${label}: ${after.slice(0, 100)} (${findings.map(({ rule }) => rule).join(', ')})`,
    )
  }
  const { poisoned, found, benign, alarms } = counts
  console.log(
    `\n${DESCRIPTION_PAIRS.length} pairs of descriptions: ${found} of ${poisoned} poisoned ones found, ${alarms} false alarms in ${benign} benign ones\n`,
  )
  return [
    ['at least 60 pairs of descriptions', DESCRIPTION_PAIRS.length >= 60],
    ['at least 95 % of the poisoned ones found', found >= 0.95 * poisoned],
    ['at most 5 % false alarms', alarms <= 0.05 * benign],
  ]
}

function show(isRight, text) {
  if (!isRight || options.verbose)
    console.log(`${isRight ? 'ok ' : '** '} ${JSON.stringify(text).slice(1, -1)}`)
}

/** What other tools say about the same pairs of schemas. They have no word for unknown. */
async function beside() {
  const pairs = SCHEMA_PAIRS.filter((pair) => pair[1] !== 'unknown')
  const other = await peer('json-schema-diff', '1.0.0')
  if (other !== undefined)
    await report('json-schema-diff 1.0.0', pairs, async (before, after) => {
      const { removalsFound } = await (other.default ?? other).diffSchemas({
        sourceSchema: before,
        destinationSchema: after,
      })
      return removalsFound ? 'breaking' : 'compatible'
    })
  const python = pythonWith('jsonsubschema==0.0.8')
  if (python !== undefined)
    await report('jsonsubschema 0.0.8', pairs, async (before, after) => {
      const code =
        'import sys,json\nfrom jsonsubschema import isSubschema\na,b=json.load(sys.stdin)\nprint(isSubschema(a,b))'
      const { status, stdout } = spawnSync(python, ['-c', code], {
        input: JSON.stringify([before, after]),
        encoding: 'utf8',
        timeout: 20_000,
      })
      if (status !== 0) throw new Error('it failed')
      return stdout.trim() === 'True' ? 'compatible' : 'breaking'
    })
}

async function report(name, pairs, judge) {
  const counts = { right: 0, falseSafe: 0, falseBreaking: 0, failed: 0 }
  for (const [, label, before, after] of pairs) {
    const said = await judge(before, after).catch(() => 'failed')
    if (said === label) counts.right++
    else if (said === 'compatible') counts.falseSafe++
    else if (said === 'breaking') counts.falseBreaking++
    else counts.failed++
  }
  const { right, falseSafe, falseBreaking, failed } = counts
  console.log(
    `  ${name}: ${right} of ${pairs.length} right, false "safe" ${falseSafe}, false "breaking" ${falseBreaking}, failed ${failed}`,
  )
}

/** A Python with a package, in the cache of the benches; undefined if it cannot be made. */
function pythonWith(requirement) {
  const folder = join(root, 'node_modules', '.cache', 'reelay-bench', requirement.replace('==', '-'))
  const python = join(folder, 'bin', 'python3')
  if (existsSync(join(folder, 'ready'))) return python
  mkdirSync(folder, { recursive: true })
  const quiet = { stdio: 'ignore' }
  if (spawnSync('python3', ['-m', 'venv', folder], quiet).status !== 0) return undefined
  if (spawnSync(python, ['-m', 'pip', 'install', '-q', requirement, 'setuptools<81'], quiet).status !== 0)
    return undefined
  writeFileSync(join(folder, 'ready'), '')
  return python
}

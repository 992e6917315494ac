// `npm run contracts`: how far the verdicts of `reelay contract` and `reelay diff` can be trusted, in figures, on labelled pairs.
import { parseArgs } from 'node:util'
import { build, installWhenNeeded } from './run.mjs'
import { SCHEMA_PAIRS } from './contracts/schema-pairs.mjs'

const { values: options } = parseArgs({
  options: { verbose: { type: 'boolean', short: 'v', default: false } },
})
installWhenNeeded()
if (process.env.REELAY_BUILT === undefined && (await build()) !== 0) process.exit(1)

const { compareSchemas } = await import('../dist/schemas/compatibility.js')
const counts = { right: 0, unknown: 0, falseSafe: 0, falseBreaking: 0, decided: 0, breaking: 0, witnessed: 0 }
for (const [name, label, before, after] of SCHEMA_PAIRS) {
  const began = performance.now()
  const verdict = compareSchemas(before, after)
  const ms = performance.now() - began
  const said = { same: 'compatible', safe: 'compatible', breaking: 'breaking', unknown: 'unknown' }[
    verdict.kind
  ]
  if (label === 'breaking') counts.breaking++
  if (label === 'breaking' && verdict.kind === 'breaking') counts.witnessed++
  if (said === 'compatible' && label !== 'compatible') counts.falseSafe++
  if (said === 'breaking' && label !== 'breaking') counts.falseBreaking++
  if (label !== 'unknown') counts.decided++
  if (said === 'unknown' && label !== 'unknown') counts.unknown++
  if (said === label) counts.right++
  if (said !== label || options.verbose) {
    const detail =
      verdict.kind === 'unknown'
        ? JSON.stringify(verdict.obstacle)
        : verdict.kind === 'breaking'
          ? JSON.stringify(verdict.witnesses.map(({ value }) => value)).slice(0, 150)
          : ''
    console.log(
      `${said === label ? 'ok ' : '** '} ${name}: ${label}, said ${said} ${detail} ${ms.toFixed(0)} ms`,
    )
  }
}
console.log(counts, SCHEMA_PAIRS.length)

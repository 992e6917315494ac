// npm run attack [-- <attack>… [--only <text>]]: hostile input on demand, longer than the gate can afford.
// To add an attack, add a file to scripts/attack that exports `run(options)`, and a line to ATTACKS. `run` prints a table and
// returns the number of failures.
import { build, installWhenNeeded } from './run.mjs'

const ATTACKS = {
  redact: () => import('./attack/redact.mjs'),
  kill: () => import('./attack/kill.mjs'),
}

const words = process.argv.slice(2)
const onlyAt = words.indexOf('--only')
const only = onlyAt < 0 ? '' : words.splice(onlyAt, 2)[1]
const names = words.length === 0 ? Object.keys(ATTACKS) : words
const unknown = names.filter((name) => !Object.hasOwn(ATTACKS, name))
if (unknown.length > 0) {
  console.error(`no attack is named ${unknown.join(', ')} (expected ${Object.keys(ATTACKS).join(', ')})`)
  process.exit(2)
}

installWhenNeeded()
if ((await build()) !== 0) process.exit(3)
let failures = 0
for (const name of names) {
  const { run } = await ATTACKS[name]()
  failures += await run({ only })
}
process.exitCode = failures > 0 ? 1 : 0

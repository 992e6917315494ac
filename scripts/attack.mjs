// npm run attack [-- <attack>… [--only <text>] [--minutes <n>] [--rate <n>] [--sockets <n>] [--seed <n>] [--kills <n>]]: hostile input on demand,
// longer than the gate can afford. --minutes and --rate are for the soaks, --seed for fuzz.
// To add an attack, add a file to scripts/attack that exports `run(options)`, and a line to ATTACKS. `run` prints a table and
// returns the number of failures.
import { build, installWhenNeeded } from './run.mjs'

const ATTACKS = {
  redact: () => import('./attack/redact.mjs'),
  kill: () => import('./attack/kill.mjs'),
  'intercept-kill': () => import('./attack/intercept-kill.mjs'),
  'debug-kill': () => import('./attack/debug-kill.mjs'),
  http: () => import('./attack/http.mjs'),
  sockets: () => import('./attack/sockets.mjs'),
  soak: () => import('./attack/soak.mjs'),
  fuzz: () => import('./attack/fuzz.mjs'),
  sigterm: () => import('./attack/sigterm.mjs'),
  'soak-record': () => import('./attack/soak-record.mjs'),
}

const words = process.argv.slice(2)
const only = takeOption('--only') ?? ''
const numbers = Object.fromEntries(
  ['minutes', 'rate', 'sockets', 'seed', 'kills'].map((name) => [name, takeNumber(`--${name}`)]),
)
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
  failures += await run({ only, ...numbers })
}
process.exitCode = failures > 0 ? 1 : 0

function takeOption(flag) {
  const at = words.indexOf(flag)
  return at < 0 ? undefined : words.splice(at, 2)[1]
}

function takeNumber(flag) {
  const given = takeOption(flag)
  return given === undefined ? undefined : Number(given)
}

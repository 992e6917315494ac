// npm run bench:beside -- <older checkout> [--rounds N] [case…]: runs every case in the older checkout and in this one by
// turns, and prints both figures of each goal. The older checkout must be built (npm ci && npm run build).
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { here, median } from './measure.mjs'

const TURNS = 3
const [older, ...args] = process.argv.slice(2)
if (older === undefined) {
  console.error('usage: npm run bench:beside -- <older checkout> [--rounds N] [case…]')
  process.exit(2)
}
const checkouts = { older: resolve(older), newer: resolve(here, '..') }
const figures = new Map()
for (let turn = 1; turn <= TURNS; turn++)
  for (const [name, folder] of Object.entries(checkouts)) {
    console.error(`turn ${turn} of ${TURNS}: ${name}`)
    for (const goal of goalsOf(folder)) collect(name, goal)
  }
for (const [what, { older: before, newer: after, kind }] of figures) {
  const [was, is] = [median(before), median(after)]
  const worse = kind === 'at most' ? is / was : was / is
  console.log(`${was.toFixed(2).padStart(12)} ${is.toFixed(2).padStart(12)}  ${verdict(worse)}  ${what}`)
}

function goalsOf(folder) {
  const { stdout } = spawnSync(process.execPath, ['bench/run.mjs', ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1e8,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return [...stdout.matchAll(/^ +(?:met|MISSED) +(.*): (-?[\d.]+) \(goal: (at most|at least) /gm)]
}

function collect(name, [, what, value, kind]) {
  if (!figures.has(what)) figures.set(what, { older: [], newer: [], kind })
  figures.get(what)[name].push(Number(value))
}

function verdict(worse) {
  if (Number.isNaN(worse)) return 'not in both '
  const percent = Math.round((worse - 1) * 100)
  if (percent > 10) return `WORSE ${percent} %`.padEnd(12)
  return (percent < -10 ? `better ${-percent} %` : 'same').padEnd(12)
}

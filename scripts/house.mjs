// npm run house: prints what the code base costs its readers, beside the ceilings that a test holds it to.
// `--lower` writes today's figures as the new ceilings; they never go up. `--verbose` lists what is behind each figure.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureFlows, measureSource } from './house/measure.mjs'
import { build, installWhenNeeded, root } from './run.mjs'

const CEILINGS = join(root, 'test', 'architecture', 'house-ceilings.json')

installWhenNeeded()
if ((await build()) !== 0) process.exit(1)
const source = measureSource(join(root, 'src'))
const figures = { ...counted(source), ...measureFlows(root, process.argv.includes('--verbose')) }
const ceilings = JSON.parse(readFileSync(CEILINGS, 'utf8'))
for (const [name, figure] of Object.entries(figures)) {
  const ceiling = ceilings[name]
  console.log(`${name.padEnd(22)} ${String(figure).padStart(7)}   ceiling ${ceiling ?? 'none'}`)
}
if (process.argv.includes('--verbose')) {
  for (const [name, list] of Object.entries(source))
    if (Array.isArray(list)) for (const item of list) console.log(`${name}: ${item}`)
}
if (process.argv.includes('--lower')) lowerCeilings()
process.exitCode = Object.entries(ceilings).some(([name, ceiling]) => figures[name] > ceiling) ? 1 : 0

function counted(figuresOfSource) {
  return Object.fromEntries(
    Object.entries(figuresOfSource).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.length : value,
    ]),
  )
}

function lowerCeilings() {
  const lower = Object.fromEntries(
    Object.keys(ceilings).map((name) => [name, Math.min(ceilings[name], figures[name])]),
  )
  writeFileSync(CEILINGS, `${JSON.stringify(lower, null, 2)}\n`)
}

// What every bench case shares: C programs, interleaved rounds, medians, and lines that end in a ratio.
import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const here = dirname(fileURLToPath(import.meta.url))
export const reelay = join(here, '..', 'dist', 'cli', 'main.js')
export const scratch = mkdtempSync(join(tmpdir(), 'reelay-bench-'))

// Node 20 reads the file that this variable names at every start, which would be measured as ours.
delete process.env.NODE_EXTRA_CA_CERTS
process.env.REELAY_HOME = scratch

/** Compiles one of the C programs in a folder beside this file. */
export function compile(name, folder = 'stdio') {
  const out = join(scratch, name)
  try {
    execFileSync('cc', ['-O2', '-w', '-o', out, join(here, folder, `${name}.c`)])
  } catch (error) {
    throw new Error(`the bench needs a C compiler as cc (Debian: apt-get install gcc): ${error.message}`, {
      cause: error,
    })
  }
  return out
}

export function median(values) {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b)
  return sorted.length === 0 ? NaN : sorted[sorted.length >> 1]
}

/** Runs every variant once a round, so that a slow minute of the machine hits all of them alike. */
export async function interleave(rounds, variants, runOne) {
  const results = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, variant] of Object.entries(variants)) results[name].push(await runOne(variant))
  }
  return results
}

/** One goal: what was measured, beside what it must reach. */
export function goal(what, value, limit, kind) {
  const met = kind === 'at most' ? value <= limit : value >= limit
  console.log(`  ${met ? 'met   ' : 'MISSED'}  ${what}: ${value.toFixed(2)} (goal: ${kind} ${limit})`)
  return met
}

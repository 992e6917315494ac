// The time of `reelay verify` on unchanged servers of others, beside a single run. By default `verify` makes two runs at the same time.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeServers, recordCalls } from '../scripts/verdicts/servers.mjs'
import { goal, interleave, median, reelay, scratch } from './measure.mjs'

export async function verifyBench({ rounds }) {
  const files = join(scratch, 'verified-files')
  mkdirSync(files, { recursive: true })
  writeFileSync(join(files, 'a.txt'), 'price 10 EUR\n')
  const env = {
    ...process.env,
    REELAY_HOME: join(scratch, 'verify-home'),
    MEMORY_FILE_PATH: join(scratch, 'memory.jsonl'),
  }
  console.log('\nverify of an unchanged server')
  const met = []
  for (const { name, command, calls } of nodeServers(files)) {
    const tape = join(scratch, `verify-${name}.tape.jsonl`)
    await recordCalls({ tape, command, calls, env, root: files })
    const variants = { 'one run': ['--repeat', '1'], default: [] }
    const results = await interleave(rounds * 2 - 1, variants, (options) =>
      timeOne({ tape, command, env, options }),
    )
    const ms = (variant) => median(results[variant])
    console.log(
      `  ${name.padEnd(18)} one run ${ms('one run').toFixed(0)} ms, default ${ms('default').toFixed(0)} ms`,
    )
    met.push(goal(`${name}, beside one run`, ms('default') / ms('one run'), 1.2, 'at most'))
  }
  return met
}

function timeOne({ tape, command, env, options }) {
  const began = performance.now()
  const args = [reelay, 'verify', tape, '--no-config', '--allow-writes', ...options, '--', ...command]
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`verify failed on an unchanged server: ${stdout}`)
  return performance.now() - began
}

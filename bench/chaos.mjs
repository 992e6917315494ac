// The chaos proxy with faults of which none applies: it has the goals of the recorder, and hardly slows down a stream of bytes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratch } from './measure.mjs'
import { recordHttp } from './record-http.mjs'
import { recordStdio } from './record-stdio.mjs'

export async function chaosBench({ rounds }) {
  const faults = join(scratch, 'faults.json')
  writeFileSync(faults, JSON.stringify({ faults: [{ tool: 'never-called', timeout: true }] }))
  const subcommand = ['chaos', '--faults', faults, '--overwrite']
  return [...(await recordHttp({ rounds, subcommand })), ...(await recordStdio({ rounds, subcommand }))]
}

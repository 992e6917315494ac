// One run of the suite's client side, scenario by scenario: the fixture client alone, or behind the recorder.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run.mjs'
import { troublesOf } from './recorder.mjs'
import { readResults, runSuite } from './suite.mjs'

// Everything that the two sets ask of a client, without OAuth: it does not survive a reverse proxy.
const SCENARIOS = {
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
}

const alone = join(root, 'test', 'fixtures', 'clients', 'conformance.mjs')
const behindRecorder = join(root, 'scripts', 'conformance', 'recorded-client.mjs')

export async function runClientSide({ requirements, recorded, folder, log }) {
  const tapes = join(folder, 'tapes')
  mkdirSync(tapes)
  const results = join(folder, 'results')
  const troubles = []
  const exits = []
  for (const scenario of SCENARIOS[requirements]) {
    const tape = join(tapes, `${scenario}.tape.jsonl`)
    const command = `"${process.execPath}" "${recorded ? behindRecorder : alone}"`
    const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', requirements]
    exits.push(await runSuite([...args, '-o', results], { env: { CONFORMANCE_TAPE: tape }, log }))
    if (recorded) troubles.push(...troublesOf(tape))
  }
  return { results: readResults(results), exits, troubles }
}

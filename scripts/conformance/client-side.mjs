// One run of the suite's client side: the fixture client alone, given the recorder's URL, or behind its forward proxy.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { forwarding } from '../recorder.mjs'
import { root } from '../run.mjs'
import { readResults, runSuite, suiteNode } from './suite.mjs'
import { troublesIn } from './tapes.mjs'

const client = join(root, 'test', 'fixtures', 'clients', 'conformance.mjs')
const behindRecorder = join(root, 'scripts', 'conformance', 'recorded-client.mjs')

export async function runClientSide({ requirements, way, folder, log }) {
  const tapes = join(folder, 'tapes')
  mkdirSync(tapes)
  const output = join(folder, 'results')
  const exits = await RUNS[way]({ requirements, output, log, tape: join(tapes, 'client.tape.jsonl') })
  const results = readResults(output)
  const isTaped = way === 'reverse' || way === 'forward'
  const troubles = isTaped ? troublesIn(tapes, Object.keys(results).length) : []
  return { results, exits, troubles }
}

const RUNS = {
  direct: (run) => runAll(run, [suiteNode, client]),
  again: (run) => runAll(run, [suiteNode, client]),
  forward: (run) => runAll(run, [...forwarding(run.tape), suiteNode, client]),
  reverse: (run) => runSome(run, [process.execPath, behindRecorder]),
}

/** Everything that the requirements ask of a client, at once: a recorder that finds the name of its tape taken puts a number behind it. */
async function runAll({ requirements, output, log }, command) {
  return [await runSuite([...clientArgs(command, output), '--requirements', requirements], { log })]
}

/** The same without OAuth, which does not survive a reverse proxy: the suite has no name for that, so each scenario is named. */
async function runSome({ requirements, output, log, tape }, command) {
  const exits = []
  for (const scenario of WITHOUT_OAUTH[requirements]) {
    const args = [...clientArgs(command, output), '--scenario', scenario, '--spec-version', requirements]
    exits.push(await runSuite(args, { log, env: { CONFORMANCE_TAPE: tape } }))
  }
  return exits
}

function clientArgs(command, output) {
  const line = command.map((word) => `"${word}"`).join(' ')
  return ['client', '--command', line, '--timeout', String(TIMEOUT_MS), '-o', output]
}

// The suite starts all clients at once; on a busy machine its own 30 seconds would be what is measured.
const TIMEOUT_MS = 180_000

const WITHOUT_OAUTH = {
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

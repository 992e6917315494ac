// One run of the suite's server side: directly, with the recorder in front of the server, or with the suite behind it.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { forwarding, startRecorder } from '../recorder.mjs'
import { readResults, runSuite } from './suite.mjs'
import { requestsOn, troublesIn } from './tapes.mjs'

/** What the suite says over plain HTTP, whatever the URL: against a server that speaks HTTPS it means nothing. */
export const PLAIN_ONLY = [
  'dns-rebinding-protection',
  'http-custom-header-server-validation',
  'http-header-validation',
]

export async function runServerSide({ start, requirements, leavesOut = [], way, folder, log }) {
  const server = await start()
  const tapes = join(folder, 'tapes')
  mkdirSync(tapes)
  const tape = join(tapes, 'server.tape.jsonl')
  const results = join(folder, 'results')
  const exit = await RUNS[way]({ url: server.url, tape, log }, [
    '--requirements',
    requirements,
    '-o',
    results,
  ])
  const reached = await server.stop()
  const isTaped = way === 'reverse' || way === 'forward'
  const troubles = isTaped ? [...troublesIn(tapes, 1), ...lostOrTwice(tape, reached)] : []
  const judged = byScenario(readResults(results), leavesOut)
  // The exit code of the suite counts in what is left out.
  return { results: judged, exits: leavesOut.length === 0 ? [exit] : [], troubles }
}

const RUNS = {
  direct: ({ url, log }, args) => runSuite(['server', '--url', url, ...args], { log }),
  again: (run, args) => RUNS.direct(run, args),
  reverse: async ({ url, tape, log }, args) => {
    const recorder = await startRecorder({ url, tape })
    const exit = await RUNS.direct({ url: recorder.url, log }, args)
    await recorder.stop()
    return exit
  },
  forward: ({ url, tape, log }, args) =>
    runSuite(['server', '--url', url, ...args], { log, behind: forwarding(tape) }),
}

/** The suite puts the side before each name. */
function byScenario(results, leavesOut) {
  const named = Object.entries(results).map(([name, checks]) => [name.replace(/^server-/, ''), checks])
  return Object.fromEntries(named.filter(([name]) => !leavesOut.includes(name)))
}

function lostOrTwice(tape, reached) {
  const taped = requestsOn(tape)
  if (reached === undefined || reached === taped) return []
  return [`${reached} requests reached the server, and ${taped} are on ${tape}`]
}

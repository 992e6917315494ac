// One run of the suite's server side: directly, or with the recorder in front of the server.
import { join } from 'node:path'
import { requestsOn, startRecorder, troublesOf } from './recorder.mjs'
import { readResults, runSuite } from './suite.mjs'

export async function runServerSide({ start, requirements, recorded, folder, log }) {
  const server = await start()
  const tape = join(folder, 'server.tape.jsonl')
  const recorder = recorded ? await startRecorder({ url: server.url, tape }) : undefined
  const { url } = recorder ?? server
  const results = join(folder, 'results')
  const exit = await runSuite(['server', '--url', url, '--requirements', requirements, '-o', results], {
    log,
  })
  await recorder?.stop()
  const reached = await server.stop()
  const troubles = recorded ? [...troublesOf(tape), ...lostOrTwice(tape, reached)] : []
  return { results: byScenario(readResults(results)), exits: [exit], troubles }
}

/** The suite puts the side before each name. */
function byScenario(results) {
  return Object.fromEntries(
    Object.entries(results).map(([name, checks]) => [name.replace(/^server-/, ''), checks]),
  )
}

function lostOrTwice(tape, reached) {
  const taped = requestsOn(tape)
  if (reached === undefined || reached === taped) return []
  return [`${reached} requests reached the server, and ${taped} are on ${tape}`]
}

// Verifies in memory: the same tapes and the same server, but the server is in this process and `replayRepeatedly` of the library is called, which
// is what `reelay verify` does. That takes a few hundredths of a second, so that every value can be tried alone and a hundred times.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { main } from '../recorder.mjs'
import { createConnection } from './server.mjs'

const { learnNoise, loadTape, replayRepeatedly, transportTarget } = await import(
  pathToFileURL(join(main, '..', '..', 'index.js'))
)

/** Returns the exit code and the report that `reelay verify` would have. */
export async function verifyInMemory({ tape, settings, profile }) {
  const loaded = await loadTape(tape)
  const report = await replayRepeatedly(loaded, optionsFor(settings), {
    repeat: 3,
    confirm: {},
    ...(profile && { noise: profile }),
  })
  const code = { pass: 0, incomplete: 3 }[report.summary.verdict] ?? 1
  return { code, report: { ...report, steps: [...report.steps] }, stderr: '' }
}

/** What `reelay learn` learns from the unchanged server. */
export async function profileInMemory({ tape, settings }) {
  const learned = await learnNoise(await loadTape(tape), optionsFor(settings))
  return learned.profile
}

/** Each connection is a new server, as a started program is. */
function optionsFor(settings) {
  return { target: transportTarget(() => transportTo(createConnection(settings))) }
}

function transportTo(connection) {
  const transport = {
    start: async () => {},
    close: async () => transport.onclose?.(),
    send: async (message) => {
      void connection.receive(message, async (answer) => transport.onmessage?.(structuredClone(answer)))
    },
  }
  return transport
}

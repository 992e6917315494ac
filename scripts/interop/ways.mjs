// The ways to reach a server. Each opens a target for a client, and at its end says what is on the tapes that it made.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startPlayer, serving } from '../player.mjs'
import { inspect, recording, startRecorder } from '../recorder.mjs'

export const WAYS = {
  direct: (server, transport) => server[transport](),
  recorded: async (server, transport, folder) => {
    mkdirSync(folder, { recursive: true })
    const tape = tapeIn(folder)
    const { target, stop } =
      transport === 'stdio'
        ? await server.stdio((command) => [...recording(tape), ...command])
        : await inFrontOf(await server[transport](), tape)
    const readTapes = () => readdirSync(folder).map((name) => inspect(join(folder, name)))
    return { target, stop, readTapes }
  },
  served: async (server, transport, tape) => {
    if (transport === 'stdio') return server.stdio(() => serving(tape))
    const { url, stop } = await startPlayer({ tape, transport })
    return { target: { url, transport }, stop }
  },
}

/** Where the first tape of a recording lies; over HTTP it is the only one. */
export function tapeIn(folder) {
  return join(folder, 'interop.tape.jsonl')
}

async function inFrontOf({ target, stop }, tape) {
  const recorder = await startRecorder({ url: target.url, tape })
  const stopBoth = async () => {
    await recorder.stop()
    await stop()
  }
  return { target: { ...target, url: recorder.url }, stop: stopBoth }
}

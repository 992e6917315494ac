import type { Readable, Writable } from 'node:stream'
import { serveCommandLine } from './command-line.ts'
import type { Drift } from './drift.ts'
import { linesOf, type Line } from './input-lines.ts'
import { Outbox } from './outbox.ts'
import { withHttpFrames } from './played-tape.ts'
import { Player } from './player.ts'
import { Rests } from './rests.ts'
import { playerOptions, type ServeOptions } from './serve-options.ts'

export interface ServeStdioOptions extends ServeOptions {
  readonly input: Readable
  /** Carries protocol lines and nothing else. */
  readonly output: Writable
  /** Ends the run as the end of the input does. */
  readonly signal?: AbortSignal
}

/** Is the recorded server on a pair of streams, until the input ends and everything owed is sent. */
export async function serveStdio({ input, output, signal, ...given }: ServeStdioOptions): Promise<Drift> {
  const options = { ...given, tape: await withHttpFrames(given.tape) }
  const outbox = new Outbox(output)
  const rests = new Rests()
  const player = new Player({
    ...playerOptions(options, (loosening) =>
      serveCommandLine(options.name ?? options.tape.path, options.server, loosening),
    ),
    send: (text) => outbox.add(text),
    later: rests.later,
  })
  player.start()
  for await (const lines of linesOf(input, stopSignal(output, signal))) {
    for (const line of lines) {
      hear(player, line)
      if (outbox.isFull) await outbox.drained()
    }
  }
  await rests.over()
  await outbox.sent()
  return player.drift()
}

// When the client stops reading, there is nobody left to serve.
function stopSignal(output: Writable, signal: AbortSignal | undefined): AbortSignal {
  const gone = new AbortController()
  output.on('error', () => gone.abort())
  return signal === undefined ? gone.signal : AbortSignal.any([signal, gone.signal])
}

function hear(player: Player, line: Line): void {
  if (line.kind === 'text') player.receive(line.text)
  else player.refuse({ code: -32700, message: `Parse error: ${line.why}` })
}

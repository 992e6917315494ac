import type { Readable, Writable } from 'node:stream'
import { WallClock } from './clock.ts'
import { serveCommandLine } from './command-line.ts'
import type { Drift } from './drift.ts'
import type { Elsewhere } from './elsewhere.ts'
import { linesOf, type Line } from './input-lines.ts'
import { Outbox } from './outbox.ts'
import { withHttpFrames } from './played-tape.ts'
import { Player } from './player.ts'
import { Rests } from './rests.ts'
import { playerOptions, type ServeOptions } from './serve-options.ts'

export interface ServeStdioOptions extends Omit<ServeOptions, 'clock'> {
  readonly input: Readable
  /** Carries protocol lines and nothing else. */
  readonly output: Writable
  /** Ends the run as the end of the input does. */
  readonly signal?: AbortSignal
  /** Answers what the tape cannot: see `passthroughTo`. */
  readonly elsewhere?: Elsewhere
}

/** Is the recorded server on a pair of streams, until the input ends and everything owed is sent. */
export async function serveStdio({
  input,
  output,
  signal,
  elsewhere,
  ...given
}: ServeStdioOptions): Promise<Drift> {
  const options = { ...given, tape: await withHttpFrames(given.tape) }
  const outbox = new Outbox(output)
  const clock = new WallClock()
  const gone = new AbortController()
  const player = new Player({
    ...playerOptions({ ...options, clock }, (loosening) =>
      [
        serveCommandLine(options.name ?? options.tape.path, options.server, loosening),
        ...(options.flags ?? []),
      ].join(' '),
    ),
    ...(elsewhere && { elsewhere }),
    link: { disconnect: () => gone.abort('disconnect') },
    send: (text) => outbox.add(text),
    later: new Rests(clock).later,
  })
  // When the client stops reading, there is nobody left to serve.
  output.on('error', () => gone.abort())
  const stop = signal === undefined ? gone.signal : AbortSignal.any([signal, gone.signal])
  stop.addEventListener('abort', () => clock.stop())
  player.start()
  for await (const lines of linesOf(input, stop)) {
    for (const line of lines) {
      if (!gone.signal.aborted) hear(player, line)
      if (outbox.isFull) await outbox.drained()
    }
  }
  await clock.over()
  await elsewhere?.over(stop)
  await outbox.sent()
  if (gone.signal.reason === 'disconnect') output.end()
  return player.drift()
}

function hear(player: Player, line: Line): void {
  if (line.kind === 'text') player.receive(line.text)
  else player.refuse({ code: -32700, message: `Parse error: ${line.why}` })
}

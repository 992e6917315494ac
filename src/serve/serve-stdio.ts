import type { Readable, Writable } from 'node:stream'
import { SystemClock } from './player/clock.ts'
import { serveCommandLine } from './suggested-commands.ts'
import type { Drift } from './drift.ts'
import type { UpstreamServer } from './upstream/upstream.ts'
import { readInputLines, type InputLine } from './input-lines.ts'
import { OutputQueue } from './outbox.ts'
import { withHttpFrames } from './playable-tape.ts'
import { SessionPlayer } from './player/session-player.ts'
import { ClientPauses } from './rests.ts'
import { sessionPlayerOptions, type ServeOptions } from './serve-options.ts'

export interface ServeStdioOptions extends Omit<ServeOptions, 'clock'> {
  readonly input: Readable
  /** Carries protocol lines and nothing else. */
  readonly output: Writable
  /** Ends the run as the end of the input does. */
  readonly signal?: AbortSignal
  /** Answers what the tape cannot: see `passthroughTo`. */
  readonly elsewhere?: UpstreamServer
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
  const outbox = new OutputQueue(output)
  const clock = new SystemClock()
  const gone = new AbortController()
  const player = new SessionPlayer({
    ...sessionPlayerOptions({ ...options, clock }, (loosening) =>
      [
        serveCommandLine(options.name ?? options.tape.path, options.server, loosening),
        ...(options.flags ?? []),
      ].join(' '),
    ),
    ...(elsewhere && { elsewhere }),
    link: { disconnect: () => gone.abort('disconnect') },
    send: (text) => outbox.add(text),
    later: new ClientPauses(clock).later,
  })
  // When the client stops reading, there is nobody left to serve.
  output.on('error', () => gone.abort())
  const stop = signal === undefined ? gone.signal : AbortSignal.any([signal, gone.signal])
  stop.addEventListener('abort', () => clock.stop())
  player.start()
  for await (const lines of readInputLines(input, stop)) {
    for (const line of lines) {
      if (!gone.signal.aborted) handleLine(player, line)
      if (outbox.isFull) await outbox.drained()
    }
  }
  await clock.idle()
  await elsewhere?.close(stop)
  await outbox.flushed()
  if (gone.signal.reason === 'disconnect') output.end()
  return player.drift()
}

function handleLine(player: SessionPlayer, line: InputLine): void {
  if (line.kind === 'text') player.handleText(line.text)
  else player.rejectInvalid({ code: -32700, message: `Parse error: ${line.why}` })
}

import { existsSync } from 'node:fs'
import type { Recorder } from '../record/recorder.ts'
import { liveRedaction } from '../serve/live-redaction.ts'
import { passthroughTo } from '../serve/passthrough-to.ts'
import type { Passthrough } from '../serve/passthrough.ts'
import { appendEpisode, hasAnswered, type EpisodeMessage } from '../store/episode.ts'
import { keepTape } from '../store/keep-tape.ts'
import type { LivePlan } from './live-plan.ts'

/** The live server behind a tape, and what was learned from it. */
export interface LiveBehind {
  readonly elsewhere: Passthrough
  /** Adds what was learned to the tape; how many messages that were. */
  readonly learn: (path: string, server: string) => Promise<number>
}

export function liveBehind({ command, learns }: LivePlan & { kind: 'passthrough' }): LiveBehind {
  const messages: EpisodeMessage[] = []
  const onMessage = (dir: EpisodeMessage['dir'], text: string): void =>
    void messages.push({ dir, text, at: Date.now() })
  return {
    elsewhere: passthroughTo(command, learns ? { onMessage } : {}),
    learn: async (path, server) => {
      if (!hasAnswered(messages)) return 0
      await appendEpisode(path, { server, messages, redaction: liveRedaction })
      return messages.length
    },
  }
}

/** Records the live server; a tape that is there is replaced only by a whole new one. Gives the exit code. */
export async function recordAnew(
  path: string,
  { command }: LivePlan & { kind: 'record' },
  say: (text: string) => void,
): Promise<number> {
  const { Recorder: Recording } = await import('../record/recorder.ts')
  const recorder: Recorder = new Recording()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void recorder.stop())
  const tape = existsSync(path) ? `${path}.${process.pid}.new` : path
  say(`recording the live server to ${path}`)
  const { exit, loss, frames } = await recorder.start({
    command,
    tape,
    client: { input: process.stdin, output: process.stdout },
  })
  if (loss !== undefined) say(`the tape is incomplete: ${loss.why}; it is ${tape}`)
  else if (await keepTape(tape, path)) say(`recorded ${frames} frames to ${path}`)
  else say(`the live server said nothing, so ${tape === path ? 'no tape was made' : 'the tape is as it was'}`)
  return exit.code ?? 1
}

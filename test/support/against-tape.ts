import { replayRepeatedly, type RepeatOptions } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import type { ReplayStep } from '../../src/replay/steps/step.ts'
import type { ReplayOptions } from '../../src/replay/options.ts'
import { transportTarget } from '../../src/replay/targets.ts'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import type { Tape } from '../../src/store/file/read.ts'
import { client, HANDSHAKE, server, tapeOf, type Said } from './tape-of.ts'

/** A tape of a legacy session with these messages after its handshake. */
export function session(...said: readonly Said[]): Tape {
  return tapeOf(...HANDSHAKE, ...said)
}

/** A call of a tool and its structured answer. */
export function called(id: number, name: string, args: object, answer: object): readonly Said[] {
  return [
    client({ id, method: 'tools/call', params: { name, arguments: args } }),
    server({ id, result: { content: [], structuredContent: answer } }),
  ]
}

type AgainstOptions = Partial<ReplayOptions> &
  Partial<Pick<RepeatOptions, 'repeat' | 'always' | 'baseline' | 'noise'>>

/** Plays a tape against a server that answers as another tape does. */
export function against(live: Tape, tape: Tape, options: AgainstOptions = {}): Promise<RepeatedReport> {
  return againstRuns([live], tape, { repeat: 1, ...options })
}

/** Plays a tape against a server that answers as another tape in each run, and as the last one in all further runs. */
export function againstRuns(
  lives: readonly Tape[],
  tape: Tape,
  { repeat = lives.length, always = false, baseline, noise, ...rest }: AgainstOptions = {},
): Promise<RepeatedReport> {
  let run = 0
  const target = transportTarget(() =>
    replayTransport(lives[Math.min(run++, lives.length - 1)] ?? tape, { drift: 'ignore' }),
  )
  return replayRepeatedly(
    tape,
    { target, allowWrites: true, ...rest },
    { repeat, always, ...(baseline && { baseline }), ...(noise && { noise }) },
  )
}

/** What was found, a line each. */
export function foundIn({ steps }: { readonly steps: Iterable<ReplayStep> }): readonly string[] {
  return [...steps].flatMap(({ tool, method, state, findings }) =>
    findings.map(({ layer, path = '', message, expected, actual }) =>
      `${tool ?? method} ${state} ${layer} ${path} ${message} ${JSON.stringify([expected, actual])}`.trim(),
    ),
  )
}

import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
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

/** Plays a tape against a server that answers as another tape does. */
export function against(
  live: Tape,
  tape: Tape,
  options: Partial<ReplayOptions> & { readonly repeat?: number; readonly baseline?: Tape } = {},
): Promise<RepeatedReport> {
  const { repeat = 1, baseline, ...rest } = options
  const target = transportTarget(() => replayTransport(live, { drift: 'ignore' }))
  return replayRepeatedly(
    tape,
    { target, allowWrites: true, ...rest },
    { repeat, ...(baseline && { baseline }) },
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

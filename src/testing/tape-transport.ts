import { existsSync } from 'node:fs'
import { recordTransport } from '../record/in-process/record-transport.ts'
import { createRecording } from '../record/recording.ts'
import { isCi } from '../serve/upstream/upstream.ts'
import { replayTransport, type ReplayTransportOptions } from '../serve/replay-transport.ts'
import { resolveTape } from '../store/home.ts'
import { replaceTapeIfAnswered } from '../store/file/rewrite.ts'
import { loadTape } from '../store/file/read.ts'
import type { AnyTransport } from '../link/sdk-transport.ts'

export interface TapeTransportOptions extends Omit<ReplayTransportOptions, 'mode'> {
  /** Makes the transport to the live server. It is called only when the mode goes live. */
  readonly live: () => AnyTransport
  /**
   * `once` records when there is no tape and replays from then on; `new-episodes` also passes on what the tape cannot answer,
   * and learns it; `all` records anew; `none` never goes live. By default `once`, and in CI `none`.
   */
  readonly mode?: 'once' | 'new-episodes' | 'none' | 'all'
}

/**
 * The recorded server, or the live one on its way to the tape: whichever the mode asks for.
 *
 * @example
 * const transport = await tapeTransport('search', { live: () => new StdioClientTransport({ command: 'my-server' }) })
 * await client.connect(transport)
 */
export async function tapeTransport(
  tape: string,
  { live, mode, ...options }: TapeTransportOptions,
): Promise<AnyTransport> {
  const path = resolveTape(tape)
  const chosen = mode ?? (isCi() ? 'none' : 'once')
  const isThere = existsSync(path)
  if (chosen === 'all' || (chosen !== 'none' && !isThere))
    return recordAgain(path, live, options.server ?? 'server')
  const learning = chosen === 'new-episodes' ? { live, mode: chosen } : {}
  return replayTransport(await loadTape(path), { ...options, ...learning })
}

/** A tape that is there is replaced when the new one is whole. */
function recordAgain(path: string, live: () => AnyTransport, server: string): AnyTransport {
  if (isCi()) process.emitWarning('CI is set, and this run goes live all the same', 'reelay')
  const fresh = existsSync(path) ? `${path}.${process.pid}.new` : path
  const recording = createRecording({ tape: fresh })
  const recorded = recordTransport(live(), { recording, server })
  const settle = callOnce(async () => {
    const { loss } = await recording.close()
    if (loss === undefined) await replaceTapeIfAnswered(fresh, path)
  })
  const closeLink = recorded.close.bind(recorded)
  const close = async (): Promise<void> => {
    await closeLink()
    await settle()
  }
  // A server that leaves by itself is closed by nobody; what goes wrong is said by `close`, if it is called.
  return Object.assign(recorded, { close, onclose: () => void settle().catch(() => {}) })
}

function callOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}

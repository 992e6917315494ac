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
  /** Creates the transport to the live server. It is called only if the mode needs it. */
  readonly live: () => AnyTransport
  /**
   * `once` records if there is no tape, and replays otherwise. `new-episodes` also forwards requests that the tape cannot answer,
   * and adds them to the tape. `all` always records. `none` never connects to the live server. The default is `once`, and `none`
   * in CI.
   */
  readonly mode?: 'once' | 'new-episodes' | 'none' | 'all'
}

/**
 * Returns a transport that replays a tape or records one, depending on the mode.
 *
 * @example
 * const transport = await tapeTransport('search', { live: () => new StdioClientTransport({ command: 'my-server' }) })
 * await client.connect(transport)
 */
export async function tapeTransport(
  tape: string,
  { live, mode, ...options }: TapeTransportOptions,
): Promise<AnyTransport & AsyncDisposable> {
  const path = resolveTape(tape)
  const chosen = mode ?? (isCi() ? 'none' : 'once')
  const exists = existsSync(path)
  if (chosen === 'all' || (chosen !== 'none' && !exists))
    return recordAgain(path, live, options.server ?? 'server')
  const learning = chosen === 'new-episodes' ? { live, mode: chosen } : {}
  return replayTransport(await loadTape(path), { ...options, ...learning })
}

/** An existing tape is replaced only when the new one is complete. */
function recordAgain(path: string, live: () => AnyTransport, server: string): AnyTransport & AsyncDisposable {
  if (isCi()) process.emitWarning('CI is set, but this run connects to the live server anyway', 'reelay')
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
  // If the server ends by itself, `close` may never be called. If it is, it reports what went wrong.
  return Object.assign(recorded, {
    close,
    [Symbol.asyncDispose]: close,
    onclose: () => void settle().catch(() => {}),
  })
}

function callOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}

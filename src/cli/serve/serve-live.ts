import { PassthroughServer } from '../../serve/upstream/passthrough-server.ts'
import { upstreamLink } from '../../serve/upstream/upstream.ts'
import type { PlayableTape } from '../../serve/playable-tape.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import type { LivePlan } from './live-plan.ts'
import { printServeLine, printServeWarning } from './tapes-to-serve.ts'

/** The live server behind a tape. */
export function openPassthrough(
  { target, learns }: LivePlan & { kind: 'passthrough' },
  { tape, secrets }: Pick<ServeOptions, 'tape' | 'secrets'>,
): PassthroughServer {
  printServeWarning('what is not on the tape goes to the live server')
  const open = upstreamLink(target, turnStoreOf(tape.turns))
  return new PassthroughServer({
    open,
    learns,
    secrets,
    ...(target.kind === 'url' && { headers: target.headers }),
  })
}

/** Appends the new episode to the tape and reports it. */
export async function appendNewEpisode(
  live: PassthroughServer,
  tape: PlayableTape,
  server: string,
): Promise<void> {
  const { messages, clients } = await live.appendToTape(tape, server)
  if (messages === 0) return
  const from = clients === 1 ? '' : `, from ${clients} clients`
  printServeLine(
    `reelay serve: the tape has a new episode of ${messages} ${messages === 1 ? 'message' : 'messages'}${from}`,
  )
}

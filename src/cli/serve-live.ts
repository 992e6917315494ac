import { LiveBehind } from '../serve/live-behind.ts'
import { linkTo } from '../serve/live-target.ts'
import { storeOf, type PlayedTape } from '../serve/played-tape.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import type { LivePlan } from './live-plan.ts'
import { say, warn } from './serve-talk.ts'

/** The live server behind a tape. */
export function liveBehind(
  { target, learns }: LivePlan & { kind: 'passthrough' },
  { tape, secrets }: Pick<ServeOptions, 'tape' | 'secrets'>,
): LiveBehind {
  warn('what is not on the tape goes to the live server')
  const open = linkTo(target, storeOf(tape.turns))
  return new LiveBehind({ open, learns, secrets, ...(target.kind === 'url' && { headers: target.headers }) })
}

/** Adds what was learned to the tape, and says so. */
export async function learn(live: LiveBehind, tape: PlayedTape, server: string): Promise<void> {
  const { messages, clients } = await live.learn(tape, server)
  if (messages === 0) return
  const from = clients === 1 ? '' : `, from ${clients} clients`
  say(
    `reelay serve: the tape has a new episode of ${messages} ${messages === 1 ? 'message' : 'messages'}${from}`,
  )
}

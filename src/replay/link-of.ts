import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Spoken, Turn } from '../tape/turn.ts'
import { isEnveloped } from '../wire/methods.ts'

/** Which of the live links a turn belongs to. */
// A modern exchange over HTTP is a connection of its own, and has no state: all of them share one link.
export function linkOf({ trigger, steps: [first] }: Turn): string {
  if (trigger === undefined) return `${(first?.kind === 'ask' ? first.request : first?.message)?.conn ?? 0}`
  return trigger.x === undefined || !isStateless(trigger) ? `${trigger.conn}` : 'stateless'
}

function isStateless({ message }: Spoken): boolean {
  return 'params' in message && isEnveloped(message.params)
}

/** The link of the client's first message. */
export function firstLink(turns: RecordedTurns): string | undefined {
  let first = -1
  let frame = Infinity
  for (let place = 0; place < turns.size; place++) {
    const { trigger, frame: n } = turns.outline(place)
    if (trigger === 'none' || n >= frame) continue
    first = place
    frame = n
  }
  const turn = first < 0 ? undefined : turns.turn(first)
  return turn && linkOf(turn)
}

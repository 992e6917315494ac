import type { RecordedMessage, Turn } from '../tape/turn.ts'
import { hasModernEnvelope } from '../protocol/methods.ts'

/** Which of the live links a turn belongs to. */
// A modern exchange over HTTP is a connection of its own, and has no state: all of them share one link.
export function linkNameOf({ trigger, steps: [first] }: Turn): string {
  if (trigger === undefined) return `${(first?.kind === 'ask' ? first.request : first?.message)?.conn ?? 0}`
  return trigger.x === undefined || !isStateless(trigger) ? `${trigger.conn}` : 'stateless'
}

function isStateless({ message }: RecordedMessage): boolean {
  return 'params' in message && hasModernEnvelope(message.params)
}

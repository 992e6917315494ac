import type { TurnStep } from '../../tape/turn.ts'
import type { Notification, Request } from '../../protocol/message.ts'

/** What the recorded server said in a step beside its answer. */
export function serverMessagesIn(step: TurnStep): readonly (Request | Notification)[] {
  if (step.kind === 'respond') return []
  const { message } = step.kind === 'ask' ? step.request : step.message
  return message.kind === 'request' || message.kind === 'notification' ? [message] : []
}

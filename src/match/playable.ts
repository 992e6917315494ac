import type { Spoken, Turn } from '../tape/turn.ts'
import { idKey, isId, type Id } from '../wire/id.ts'
import { member } from '../wire/message.ts'

/**
 * The turns that can be played again: those with an answer, and those that rightly never got one, because the client
 * cancelled the request or because it opened a stream of notifications that lasted to the end.
 */
export function playableTurns(turns: readonly Turn[]): ReadonlySet<Turn> {
  const cancelled = new Set(turns.flatMap(cancelledRequest))
  return new Set(turns.filter((turn) => turn.response !== undefined || isRightlySilent(turn, cancelled)))
}

function cancelledRequest({ trigger }: Turn): readonly string[] {
  if (trigger?.message.kind !== 'notification' || trigger.message.method !== 'notifications/cancelled')
    return []
  const id = member(trigger.message.params, 'requestId')
  return isId(id) ? [placeOf(trigger, id)] : []
}

function isRightlySilent({ trigger, steps, cut }: Turn, cancelled: ReadonlySet<string>): boolean {
  if (trigger?.message.kind !== 'request' || cut !== undefined) return false
  if (cancelled.has(placeOf(trigger, trigger.message.id))) return true
  return trigger.message.method === 'subscriptions/listen' && steps.length > 0
}

function placeOf({ server, conn }: Spoken, id: Id): string {
  return JSON.stringify([server, conn, idKey(id)])
}

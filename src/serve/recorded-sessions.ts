import type { Spoken, Turn } from '../tape/turn.ts'

/**
 * The sessions of a tape, each as what was said in it, in the order in which they began. A connection that holds a handshake
 * and more is one. Where each exchange is a connection of its own, a session lasts from one handshake to the next.
 */
export function recordedSessions(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const byConnection = new Map<number | undefined, Turn[]>()
  for (const turn of turns) listIn(byConnection, placeOf(turn)?.conn).push(turn)
  const sessions: Turn[][] = []
  let loose: Turn[] | undefined
  for (const turn of turns) {
    const whole = byConnection.get(placeOf(turn)?.conn) ?? []
    if (whole.length > 1 && whole.some(isHandshake)) {
      if (whole[0] === turn) sessions.push(whole)
      continue
    }
    if (isHandshake(turn)) sessions.push((loose = []))
    loose?.push(turn)
  }
  return sessions
}

/** Where a turn was recorded: at its first message. */
export function placeOf({ trigger, steps: [first] }: Turn): Spoken | undefined {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}

function isHandshake({ trigger }: Turn): boolean {
  return trigger?.message.kind === 'request' && trigger.message.method === 'initialize'
}

function listIn(lists: Map<number | undefined, Turn[]>, key: number | undefined): Turn[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}

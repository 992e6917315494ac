import type { Spoken, Turn } from '../tape/turn.ts'

/**
 * The sessions of a tape, each as what was said in it, in the order in which they began. A connection that holds a handshake
 * and more is one. Where each exchange is a connection of its own, a session lasts from one handshake to the next.
 */
export function recordedSessions(turns: readonly Turn[]): readonly ReadonlySet<Turn>[] {
  const connections = connectionsIn(turns)
  const sessions: Set<Turn>[] = []
  let loose: Set<Turn> | undefined
  for (const turn of turns) {
    const connection = connections.get(placeOf(turn)?.conn)
    if (connection?.isSession === true) {
      if (connection.first === turn) sessions.push(connection.turns)
      continue
    }
    if (isHandshake(turn)) sessions.push((loose = new Set()))
    loose?.add(turn)
  }
  return sessions
}

interface Connection {
  readonly first: Turn
  readonly turns: Set<Turn>
  /** Whether it holds a handshake and more. */
  isSession: boolean
}

function connectionsIn(turns: readonly Turn[]): ReadonlyMap<number | undefined, Connection> {
  const connections = new Map<number | undefined, Connection>()
  for (const turn of turns) {
    const conn = placeOf(turn)?.conn
    const known = connections.get(conn) ?? { first: turn, turns: new Set(), isSession: false }
    connections.set(conn, known)
    known.turns.add(turn)
  }
  for (const turn of turns.filter(isHandshake)) {
    const connection = connections.get(placeOf(turn)?.conn)
    if (connection !== undefined) connection.isSession = connection.turns.size > 1
  }
  return connections
}

/** Where a turn was recorded: at its first message. */
export function placeOf({ trigger, steps: [first] }: Turn): Spoken | undefined {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}

function isHandshake({ trigger }: Turn): boolean {
  return trigger?.message.kind === 'request' && trigger.message.method === 'initialize'
}

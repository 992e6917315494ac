import type { TurnStore } from '../tape/turn-store.ts'
import type { RecordedMessage, Turn } from '../tape/turn.ts'

/** Whether a turn was said in a session. */
export type SessionFilter = (turn: Turn) => boolean

/**
 * The sessions of a tape in the order in which they began. A connection that holds a handshake and more is one. Where each
 * exchange is a connection of its own, a session lasts from one handshake to the next.
 */
export function sessionFilters(turns: TurnStore): readonly SessionFilter[] {
  const handshakes: number[] = []
  for (let place = 0; place < turns.size; place++)
    if (turns.outline(place).method === 'initialize') handshakes.push(place)
  return handshakes.flatMap((place, nth) => {
    const opening = turns.turn(place)
    const conn = opening && firstMessageOf(opening)?.conn
    if (conn === undefined) return []
    if (isContinued(turns, place, conn)) return [(turn) => firstMessageOf(turn)?.conn === conn]
    const first = opening?.trigger?.n ?? 0
    const end = handshakes[nth + 1]
    const next = end === undefined ? Infinity : turns.outline(end).frame
    return [(turn) => isWithin(firstMessageOf(turn)?.n, first, next)]
  })
}

/** Where a turn was recorded: at its first message. */
export function firstMessageOf({ trigger, steps: [first] }: Turn): RecordedMessage | undefined {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}

// A client goes on at once, and others that speak meanwhile are few.
const LOOKAHEAD_TURNS = 64

function isContinued(turns: TurnStore, handshake: number, conn: number): boolean {
  const end = Math.min(handshake + LOOKAHEAD_TURNS, turns.size)
  for (let place = handshake + 1; place < end; place++) {
    const turn = turns.turn(place)
    if (turn !== undefined && firstMessageOf(turn)?.conn === conn) return true
  }
  return false
}

function isWithin(n: number | undefined, from: number, to: number): boolean {
  return n !== undefined && n >= from && n < to
}

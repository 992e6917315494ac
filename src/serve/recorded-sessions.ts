import type { TurnStore } from '../tape/turn-store.ts'
import type { Spoken, Turn } from '../tape/turn.ts'

/** Whether a turn was said in a session. */
export type RecordedSession = (turn: Turn) => boolean

/**
 * The sessions of a tape in the order in which they began. A connection that holds a handshake and more is one. Where each
 * exchange is a connection of its own, a session lasts from one handshake to the next.
 */
export function recordedSessions(turns: TurnStore): readonly RecordedSession[] {
  const handshakes: number[] = []
  for (let place = 0; place < turns.size; place++)
    if (turns.outline(place).method === 'initialize') handshakes.push(place)
  return handshakes.flatMap((place, nth) => {
    const opening = turns.turn(place)
    const conn = opening && placeOf(opening)?.conn
    if (conn === undefined) return []
    if (goesOn(turns, place, conn)) return [(turn) => placeOf(turn)?.conn === conn]
    const first = opening?.trigger?.n ?? 0
    const end = handshakes[nth + 1]
    const next = end === undefined ? Infinity : turns.outline(end).frame
    return [(turn) => isWithin(placeOf(turn)?.n, first, next)]
  })
}

/** Where a turn was recorded: at its first message. */
export function placeOf({ trigger, steps: [first] }: Turn): Spoken | undefined {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}

// A client goes on at once, and others that speak meanwhile are few.
const LOOKED_AT = 64

function goesOn(turns: TurnStore, handshake: number, conn: number): boolean {
  const end = Math.min(handshake + LOOKED_AT, turns.size)
  for (let place = handshake + 1; place < end; place++) {
    const turn = turns.turn(place)
    if (turn !== undefined && placeOf(turn)?.conn === conn) return true
  }
  return false
}

function isWithin(n: number | undefined, from: number, to: number): boolean {
  return n !== undefined && n >= from && n < to
}

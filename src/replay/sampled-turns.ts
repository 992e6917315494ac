import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'

const OF_EACH = 20

/** A few turns of each method, from all of the tape: what most answers need is known from these. */
export function* sampledTurns(turns: RecordedTurns): Generator<Turn> {
  const counts = new Map<string, number>()
  for (let place = 0; place < turns.size; place++) {
    const { method } = turns.outline(place)
    const count = counts.get(method) ?? 0
    counts.set(method, count + 1)
    const turn = count < OF_EACH || isPowerOfTwo(count) ? turns.turn(place) : undefined
    if (turn !== undefined) yield turn
  }
}

function isPowerOfTwo(number: number): boolean {
  return (number & (number - 1)) === 0
}

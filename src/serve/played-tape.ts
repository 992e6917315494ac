import type { Tape } from '../store/read.ts'
import { heldTurns, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'

/** A tape to be played: in memory as `loadTape` reads it, or on disk as `openIndexedTape` looks it through. */
export interface PlayedTape extends Pick<Tape, 'path' | 'header' | 'matchFile'> {
  readonly turns: readonly Turn[] | TurnStore
}

export function storeOf(turns: readonly Turn[] | TurnStore): TurnStore {
  return 'size' in turns ? turns : heldTurns(turns)
}

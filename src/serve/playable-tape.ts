import { readHttpFrames } from '../store/http-frames.ts'
import type { Tape } from '../store/file/read.ts'
import { turnsInMemory, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'

/** A tape to be played: in memory as `loadTape` reads it, or on disk as `openIndexedTape` looks it through. */
export interface PlayableTape extends Pick<Tape, 'path' | 'header' | 'matchFile'> {
  readonly turns: readonly Turn[] | TurnStore
  /** What else is on it, as far as it was read: what HTTP carried around the messages is among it. */
  readonly rest?: Tape['rest']
}

export function turnStoreOf(turns: readonly Turn[] | TurnStore): TurnStore {
  return 'size' in turns ? turns : turnsInMemory(turns)
}

/** The tape with what HTTP carried around its messages; that is read now, if it was not and there can be any. */
export async function withHttpFrames(tape: PlayableTape): Promise<PlayableTape> {
  const isOfHttp = Object.values(tape.header.servers).some(({ transport }) => transport === 'http')
  if (tape.rest !== undefined || !isOfHttp) return tape
  return { ...tape, rest: await readHttpFrames(tape.path) }
}

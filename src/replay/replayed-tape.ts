import type { IndexedTape } from '../store/indexed-tape.ts'
import type { Tape } from '../store/read.ts'

/** A tape that a client is played from: in memory, or on the disk, however large it is. */
export type ReplayedTape = Tape | IndexedTape

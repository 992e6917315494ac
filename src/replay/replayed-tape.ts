import type { IndexedTape } from '../store/index/indexed-tape.ts'
import type { Tape } from '../store/file/read.ts'

/** A tape that a client is played from: in memory, or on the disk, however large it is. */
export type ReplayedTape = Tape | IndexedTape

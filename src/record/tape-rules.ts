import type { RecordingLimits } from './limits.ts'

/** What the user wants of a tape, whatever is recorded. */
export interface RecordingRules {
  /** When the tape ends, or the next one begins. */
  readonly limits?: RecordingLimits
  /** Methods that are taped, such as `tools/call` or `resources/*`; without it, all are. */
  readonly only?: readonly string[]
  /** Methods that are not. */
  readonly skip?: readonly string[]
  /** Of a message longer than this only the beginning is taped. Such a message cannot be played. */
  readonly cutBytes?: number
  /** A request that has had no answer for this long is noted on the tape. */
  readonly pendingMs?: number
}

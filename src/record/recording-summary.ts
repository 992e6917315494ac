import type { VaultSummary } from '../store/vault.ts'
import type { FinishedTape } from './open-tape.ts'

/** What became of the recording, for the line that the user sees at the end. */
export interface RecordingSummary {
  /** Where the tape is, the last one where there are several; undefined when none could be made. */
  readonly path: string | undefined
  /** How many tapes were written: more than one when the user asked for rotation. */
  readonly tapes: number
  readonly frames: number
  /** Why the tape is not whole, and how many frames it missed. */
  readonly loss: { readonly why: string; readonly frames: number } | undefined
  /** How many different secrets have a stand-in on the tape. */
  readonly secrets: number
  /** Where the real values are kept, when they were to be. */
  readonly vault: VaultSummary | undefined
  /** The limit at which recording stopped, while the session went on. */
  readonly stoppedAt: string | undefined
}

/** What there is to tell of a recording beside its tapes. */
interface SummaryFacts extends Pick<RecordingSummary, 'secrets' | 'vault' | 'stoppedAt'> {
  /** Why no tape, or no further one, could be made. */
  readonly failure: string | undefined
}

/** Sums up the tapes of a recording, in the order in which they were written. */
export function summarizeRecording(
  tapes: readonly FinishedTape[],
  { failure, secrets, vault, stoppedAt }: SummaryFacts,
): RecordingSummary {
  return {
    path: tapes.at(-1)?.path,
    tapes: tapes.length,
    frames: tapes.reduce((sum, tape) => sum + tape.frames, 0),
    loss: failure === undefined ? tapes.find((tape) => tape.loss)?.loss : { why: failure, frames: 0 },
    secrets,
    vault,
    stoppedAt,
  }
}

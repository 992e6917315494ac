import type { Asked } from './key.ts'
import { acceptDifference, acceptRepeats, type Loosening } from './loosening.ts'
import { findReason, type Finding, type MissReason, type NoHit } from './miss-reason.ts'
import type { Candidate } from './nearest.ts'
import type { Matcher, RecordedRequest } from './matcher.ts'

/** A live request that the tape cannot answer: the one structure behind every form of the miss report. */
export interface Miss {
  readonly reason: MissReason
  /** One sentence, or half of one, to follow the reason. */
  readonly why: string
  readonly asked: Asked
  /** The tape as the user named it. */
  readonly tape: string
  /** Recorded requests that can be compared with this one, nearest first; empty when there are none. */
  readonly nearest: readonly Candidate[]
  readonly accept?: Accept
  /** The first recorded request that was not asked for yet. */
  readonly next?: RecordedRequest
}

/** What would accept the difference, ready to paste, and what else it would change. */
export interface Accept {
  readonly command: string
  readonly note?: string
}

export interface ExplainerOptions {
  readonly index: Matcher
  readonly tape: string
  /** How the user says these options: a command line, or a call of the library. */
  readonly commandFor: (loosening: Loosening) => string
}

/** Explains the misses of one run; it remembers them, so that the advice to one leaves an answer for the others. */
export class MissExplainer {
  readonly #options: ExplainerOptions
  readonly #claims = new Map<RecordedRequest, number>()

  constructor(options: ExplainerOptions) {
    this.#options = options
  }

  explain(asked: Asked, outcome: NoHit): Miss {
    const { index, tape } = this.#options
    const finding = findReason(asked, outcome, index)
    const accept = this.#accept(asked, finding)
    const next = index.next()
    return { ...finding, asked, tape, ...(accept && { accept }), ...(next && { next }) }
  }

  #accept(asked: Asked, { reason, nearest: [top] }: Finding): Accept | undefined {
    const { index, commandFor } = this.#options
    if (reason === 'EXHAUSTED') return { command: commandFor(acceptRepeats(index)) }
    if (reason !== 'ARGUMENT_DRIFT' || top === undefined) return undefined
    const loosening = acceptDifference(asked, top, index, this.#claims)
    this.#claims.set(top.entry.request, (this.#claims.get(top.entry.request) ?? 0) + 1)
    if (loosening === undefined) return undefined
    const command = commandFor(loosening)
    return loosening.merged === 1 ? { command } : { command, note: mergeNote(loosening.merged) }
  }
}

function mergeNote(merged: number): string {
  return `${merged} different recorded requests then count as the same and are answered in recorded order`
}

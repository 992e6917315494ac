import type { TurnStore } from '../tape/turn-store.ts'
import type { Annotation } from './annotations.ts'
import { Evidence } from './evidence.ts'
import { fixesFor, type Fix } from './fixes.ts'
import type { Asked } from './key.ts'
import type { Loosening } from './loosening.ts'
import { matchingIn, type MatchOptions } from './match-options.ts'
import type { Matcher, RecordedRequest } from './matcher.ts'
import type { Matching } from './matching.ts'
import type { Context, Finding, MissReason, NoHit } from './finding.ts'
import { findReason } from './miss-reason.ts'
import type { Candidate } from './nearest.ts'
import { othersLike } from './tried-rules.ts'

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
  /** What is known of the values of the nearest one. */
  readonly annotations: readonly Annotation[]
  /** When the nearest one was recorded, in milliseconds since 1970. */
  readonly recordedAt?: number
  /** What would accept it, ready to paste, the most exact first. */
  readonly fixes: readonly Fix[]
  /** The first recorded request that was not asked for yet. */
  readonly next?: RecordedRequest
}

export interface ExplainerOptions {
  readonly index: Matcher
  readonly tape: string
  /** The turns of the whole tape, of all its servers. */
  readonly turns: TurnStore
  /** When the recording began, as in the tape's header. */
  readonly started?: string
  readonly now?: () => number
  /** The options of this run. */
  readonly given?: MatchOptions
  /** How the user says these options: a command line, or a call of the library. */
  readonly commandFor: (loosening: Loosening) => string
  /** How the tape was made, when it says. */
  readonly recordCommand?: () => string | undefined
}

/** Explains the misses of one run; it remembers them, so that the advice to one leaves an answer for the others. */
export class MissExplainer {
  readonly #options: ExplainerOptions
  readonly #matching: Matching
  readonly #evidence: Evidence
  /** By the frame of the request. */
  readonly #claims = new Map<number, number>()

  constructor(options: ExplainerOptions) {
    const { index, turns, started = '', now = Date.now } = options
    this.#options = options
    this.#matching = matchingIn(index)
    this.#evidence = new Evidence({ turns, started, now })
  }

  explain(asked: Asked, outcome: NoHit): Miss {
    const { index, tape } = this.#options
    const context = this.#context()
    const finding = findReason(asked, outcome, context)
    const fixes = fixesFor(asked, finding, {
      given: {},
      ...this.#options,
      ...context,
      claims: this.#claims,
      others: othersLike(asked, index),
    })
    this.#claim(finding)
    const { reason, why, nearest, annotations } = finding
    const next = index.next()
    return {
      reason,
      why,
      asked,
      tape,
      nearest,
      annotations,
      fixes,
      ...this.#age(nearest),
      ...(next && { next }),
    }
  }

  #context(): Context {
    const { index } = this.#options
    return { index, matching: this.#matching, evidence: this.#evidence }
  }

  #age([top]: readonly Candidate[]): Pick<Miss, 'recordedAt'> {
    const recordedAt = top === undefined ? undefined : this.#evidence.recordedAt(top.entry)
    return recordedAt === undefined ? {} : { recordedAt }
  }

  #claim(finding: Finding): void {
    const wanted = isDrift(finding) ? finding.nearest[0]?.entry.request.frame : undefined
    if (wanted !== undefined) this.#claims.set(wanted, (this.#claims.get(wanted) ?? 0) + 1)
  }
}

function isDrift({ reason }: Finding): boolean {
  return reason === 'ARGUMENT_DRIFT' || reason === 'UNBOUND_HANDLE'
}

import type { ClientCall, TurnStore } from '../../tape/turns.ts'
import { type ValueAnnotation, TapeLookup, type NearestRequest } from './nearest.ts'
import { suggestFixes, type Fix, similarRequests } from './fixes.ts'
import { type SuggestedMatchOptions, type MatchOptions } from '../options.ts'
import type { Matcher } from '../matcher.ts'
import type { RecordedRequest } from '../request-groups.ts'
import type { RequestComparer } from '../request-comparer.ts'
import {
  type MissContext,
  type MissDiagnosis,
  type MissReason,
  type MissOutcome,
  diagnoseMiss,
} from './reasons.ts'

/** A live request that the tape cannot answer: the one structure behind every form of the miss report. */
export interface Miss {
  readonly reason: MissReason
  /** One sentence, or half of one, to follow the reason. */
  readonly why: string
  readonly asked: ClientCall
  /** The tape as the user named it. */
  readonly tape: string
  /** Recorded requests that can be compared with this one, nearest first; empty when there are none. */
  readonly nearest: readonly NearestRequest[]
  /** What is known of the values of the nearest one. */
  readonly annotations: readonly ValueAnnotation[]
  /** When the nearest one was recorded, in milliseconds since 1970. */
  readonly recordedAt?: number
  /** What would accept it, ready to paste, the most exact first. */
  readonly fixes: readonly Fix[]
  /** The first recorded request that was not asked for yet. */
  readonly next?: RecordedRequest
}

interface MissExplainerOptions {
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
  readonly commandFor: (loosening: SuggestedMatchOptions) => string
  /** How the tape was made, when it says. */
  readonly recordCommand?: () => string | undefined
}

/** Explains the misses of one run; it remembers them, so that the advice to one leaves an answer for the others. */
export class MissExplainer {
  readonly #options: MissExplainerOptions
  readonly #matching: RequestComparer
  readonly #evidence: TapeLookup
  /** By the frame of the request. */
  readonly #claims = new Map<number, number>()

  constructor(options: MissExplainerOptions) {
    const { index, turns, started = '', now = Date.now } = options
    this.#options = options
    this.#matching = index.comparer
    this.#evidence = new TapeLookup({ turns, started, now })
  }

  explain(asked: ClientCall, outcome: MissOutcome): Miss {
    const { index, tape } = this.#options
    const context = this.#context()
    const finding = diagnoseMiss(asked, outcome, context)
    const fixes = suggestFixes(asked, finding, {
      given: {},
      ...this.#options,
      ...context,
      claims: this.#claims,
      others: similarRequests(asked, index),
    })
    this.#rememberClaim(finding)
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
      ...this.#recordedAt(nearest),
      ...(next && { next }),
    }
  }

  #context(): MissContext {
    const { index } = this.#options
    return { index, matching: this.#matching, evidence: this.#evidence }
  }

  #recordedAt([top]: readonly NearestRequest[]): Pick<Miss, 'recordedAt'> {
    const recordedAt = top === undefined ? undefined : this.#evidence.recordedAt(top.entry)
    return recordedAt === undefined ? {} : { recordedAt }
  }

  #rememberClaim(finding: MissDiagnosis): void {
    const wanted = isDrift(finding) ? finding.nearest[0]?.entry.request.frame : undefined
    if (wanted !== undefined) this.#claims.set(wanted, (this.#claims.get(wanted) ?? 0) + 1)
  }
}

function isDrift({ reason }: MissDiagnosis): boolean {
  return reason === 'ARGUMENT_DRIFT' || reason === 'UNBOUND_HANDLE'
}

import type { ClientCall, TurnStore } from '../../tape/turns.ts'
import type { Matcher } from '../matcher.ts'
import type { RecordedRequest } from '../request-groups.ts'
import { suggestFixes, type Fix, type FixOptions } from './fixes.ts'
import { TapeLookup, type NearestRequest, type ValueAnnotation } from './nearest.ts'
import { diagnoseMiss, type MissContext, type MissOutcome, type MissReason } from './reasons.ts'

/** A live request that the tape cannot answer. Every form of the miss report is made from it. */
export interface Miss {
  readonly reason: MissReason
  /** A sentence or phrase that explains the reason. */
  readonly why: string
  readonly request: ClientCall
  /** The tape as the user named it. */
  readonly tape: string
  /** The recorded requests that are worth comparing with this one, the nearest first. */
  readonly nearest: readonly NearestRequest[]
  /** Facts about values of the nearest request. */
  readonly annotations: readonly ValueAnnotation[]
  /** When the nearest request was recorded, in milliseconds since 1970. */
  readonly recordedAt?: number
  /** Commands that would make the tape answer, the most exact first. */
  readonly fixes: readonly Fix[]
  /** The first recorded request that was not used yet. */
  readonly next?: RecordedRequest
}

interface MissExplainerOptions extends FixOptions {
  readonly matcher: Matcher
  /** The turns of the whole tape, of all its servers. */
  readonly turns: TurnStore
  /** When the recording began, as in the tape's header. */
  readonly started?: string
  readonly now?: () => number
}

/** Explains the misses of one run. It remembers them, so that a suggested fix leaves enough answers for earlier misses. */
export class MissExplainer {
  readonly #options: MissExplainerOptions
  readonly #context: MissContext
  /** How many misses came nearest to a recorded request, by the frame of that request. */
  readonly #claims = new Map<number, number>()

  constructor(options: MissExplainerOptions) {
    const { matcher, turns, started = '', now = Date.now } = options
    this.#options = options
    this.#context = { matcher, comparer: matcher.comparer, lookup: new TapeLookup({ turns, started, now }) }
  }

  explain(request: ClientCall, outcome: MissOutcome): Miss {
    const { matcher, tape } = this.#options
    const { lookup } = this.#context
    const diagnosis = diagnoseMiss(request, outcome, this.#context)
    const fixes = suggestFixes(request, diagnosis, {
      ...this.#options,
      ...this.#context,
      claims: this.#claims,
    })
    const { reason, why, nearest, annotations } = diagnosis
    const entry = nearest[0]?.entry
    if (entry !== undefined && (reason === 'ARGUMENT_DRIFT' || reason === 'UNBOUND_HANDLE'))
      this.#claims.set(entry.request.frame, (this.#claims.get(entry.request.frame) ?? 0) + 1)
    const recordedAt = entry && lookup.recordedAt(entry)
    const next = matcher.next()
    return {
      reason,
      why,
      request,
      tape,
      nearest,
      annotations,
      fixes,
      ...(recordedAt !== undefined && { recordedAt }),
      ...(next && { next }),
    }
  }
}

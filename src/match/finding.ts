import type { Annotation } from './annotations.ts'
import type { Evidence } from './evidence.ts'
import type { Matcher, MatchOutcome, RecordedRequest } from './matcher.ts'
import type { Matching } from './matching.ts'
import type { Candidate } from './nearest.ts'

/** Why a live request has no recorded answer. */
export type MissReason =
  | 'UNKNOWN_TOOL'
  | 'UNKNOWN_METHOD'
  | 'ARGUMENT_DRIFT'
  | 'EXHAUSTED'
  | 'OUT_OF_ORDER'
  | 'UNBOUND_HANDLE'
  | 'UNANSWERED'
  | 'ERA_MISMATCH'
  | 'REDACTION_MISMATCH'
  | 'ANSWER_DRIFT'
  | 'WRONG_SERVER'
  | 'EMPTY_TAPE'

export interface Finding {
  readonly reason: MissReason
  readonly why: string
  /** Recorded requests that can fairly be compared with this one, nearest first. */
  readonly nearest: readonly Candidate[]
  /** What is known of the values of the nearest one. */
  readonly annotations: readonly Annotation[]
  /** The same request, sent to another server. */
  readonly elsewhere?: RecordedRequest
}

export type NoHit = Exclude<MatchOutcome, { kind: 'hit' }>

export interface Context {
  readonly index: Pick<Matcher, 'next' | 'permissive' | 'kinds' | 'entries'>
  readonly matching: Matching
  readonly evidence: Evidence
}

/** A finding with requests to compare with. */
export function compared(reason: MissReason, why: string, nearest: readonly Candidate[]): Finding {
  return { reason, why, nearest, annotations: [] }
}

/** A finding where nothing can fairly be compared: no difference is shown that would only mislead. */
export function incomparable(reason: MissReason, why: string): Finding {
  return compared(reason, why, [])
}

import type { ValueAnnotation } from './miss/annotations.ts'
import type { TapeLookup } from './evidence.ts'
import type { Matcher, MatchOutcome, RecordedRequest } from './matcher.ts'
import type { RequestComparer } from './request-comparer.ts'
import type { NearestRequest } from './miss/nearest.ts'

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

export interface MissDiagnosis {
  readonly reason: MissReason
  readonly why: string
  /** Recorded requests that can fairly be compared with this one, nearest first. */
  readonly nearest: readonly NearestRequest[]
  /** What is known of the values of the nearest one. */
  readonly annotations: readonly ValueAnnotation[]
  /** The same request, sent to another server. */
  readonly onOtherServer?: RecordedRequest
}

export type MissOutcome = Exclude<MatchOutcome, { kind: 'hit' }>

export interface MissContext {
  readonly index: Pick<Matcher, 'next' | 'permissive' | 'kinds' | 'entries'>
  readonly matching: RequestComparer
  readonly evidence: TapeLookup
}

/** A finding with requests to compare with. */
export function comparableMiss(
  reason: MissReason,
  why: string,
  nearest: readonly NearestRequest[],
): MissDiagnosis {
  return { reason, why, nearest, annotations: [] }
}

/** A finding where nothing can fairly be compared: no difference is shown that would only mislead. */
export function incomparableMiss(reason: MissReason, why: string): MissDiagnosis {
  return comparableMiss(reason, why, [])
}

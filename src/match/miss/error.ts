import { describeValue, describeRequest, shortenValue, calledTool } from '../describe-request.ts'
import type { FieldDifference } from '../field-diff.ts'
import { comparedParams } from '../request-key.ts'
import type { MissReason } from '../finding.ts'
import type { Fix } from './fixes.ts'
import type { Miss } from './miss.ts'
import { nearestRequestData, type NearestRequestData } from '../nearest-data.ts'
import { formatPath } from '../../json/path.ts'
import type { RecordedRequest } from '../matcher.ts'

/** Outside -32768..-32000, which JSON-RPC reserves, so that no recorded error can be mistaken for a miss. */
export const MISS_CODE = -39404

/** The miss report as a JSON-RPC error object. */
export interface MissError {
  readonly code: typeof MISS_CODE
  /** One line. */
  readonly message: string
  readonly data: {
    readonly kind: 'replay_miss'
    readonly reason: MissReason
    readonly why: string
    readonly method: string
    readonly tool?: string
    readonly tape: string
    readonly nearest: readonly NearestRequestData[]
    /** What would accept it, ready to paste. */
    readonly fixes: readonly Fix[]
    /** The options that would accept it in a run like this one. */
    readonly accept?: string
    readonly next?: NextData
  }
}

interface NextData {
  readonly frame: number
  readonly method: string
  readonly params: unknown
}

export function missAsError(miss: Miss): MissError {
  const { reason, why, asked, tape, fixes, next } = miss
  const tool = calledTool(asked)
  const accept = fixes.find(({ kind }) => kind === 'run')
  return {
    code: MISS_CODE,
    message: missErrorMessage(miss),
    data: {
      kind: 'replay_miss',
      reason,
      why,
      method: asked.method,
      ...(tool !== undefined && { tool }),
      tape,
      nearest: nearestRequestData(miss),
      fixes,
      ...(accept && { accept: accept.command }),
      ...(next && { next: nextData(next) }),
    },
  }
}

function missErrorMessage({ reason, why, asked, nearest, next }: Miss): string {
  const [first] = nearest[0]?.differences ?? []
  const differs = first === undefined ? '' : ` (nearest #${nearest[0]?.frame}: ${fieldDifferenceText(first)})`
  const expected =
    next === undefined
      ? 'nothing is left on the tape'
      : `next expected: #${next.frame} ${describeRequest(next)}`
  return `REPLAY MISS ${reason}: ${describeRequest(asked)}: ${why}${differs}; ${expected}`
}

function fieldDifferenceText({ path, recorded, got }: FieldDifference): string {
  return `${formatPath(path)} recorded ${valueOrNothing(recorded)}, got ${valueOrNothing(got)}`
}

function valueOrNothing(value: unknown): string {
  return value === undefined ? 'nothing' : describeValue(value, 40)
}

function nextData(next: RecordedRequest): NextData {
  return { frame: next.frame, method: next.method, params: shortenValue(comparedParams(next)) }
}

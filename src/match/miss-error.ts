import { brief, briefRequest, briefValue, toolOf } from './brief.ts'
import type { Difference } from './field-diff.ts'
import { comparedParams } from './key.ts'
import type { MissReason } from './miss-reason.ts'
import type { Miss } from './miss.ts'
import type { Candidate } from './nearest.ts'
import { formatPath } from '../wire/path.ts'
import type { RecordedRequest } from './matcher.ts'

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
    readonly method: string
    readonly tool?: string
    readonly tape: string
    readonly nearest: readonly NearestData[]
    readonly accept?: string
    readonly next?: NextData
  }
}

interface NextData {
  readonly frame: number
  readonly method: string
  readonly params: unknown
}

interface NearestData {
  readonly frame: number
  readonly distance: number
  readonly used: number
  readonly of: number
  readonly differences: readonly {
    readonly path: string
    readonly recorded?: unknown
    readonly got?: unknown
  }[]
}

export function missAsError(miss: Miss): MissError {
  const { reason, asked, tape, nearest, accept, next } = miss
  const tool = toolOf(asked)
  return {
    code: MISS_CODE,
    message: messageOf(miss),
    data: {
      kind: 'replay_miss',
      reason,
      method: asked.method,
      ...(tool !== undefined && { tool }),
      tape,
      nearest: nearest.slice(0, NEAREST).map(nearestData),
      ...(accept && { accept: accept.command }),
      ...(next && { next: nextData(next) }),
    },
  }
}

const NEAREST = 3
const DIFFERENCES = 20

function messageOf({ reason, why, asked, nearest, next }: Miss): string {
  const [first] = nearest[0]?.differences ?? []
  const differs = first === undefined ? '' : ` (nearest #${nearest[0]?.frame}: ${inWords(first)})`
  const expected =
    next === undefined ? 'nothing is left on the tape' : `next expected: #${next.frame} ${briefRequest(next)}`
  return `REPLAY MISS ${reason}: ${briefRequest(asked)}: ${why}${differs}; ${expected}`
}

function inWords({ path, recorded, got }: Difference): string {
  return `${formatPath(path)} recorded ${say(recorded)}, got ${say(got)}`
}

function say(value: unknown): string {
  return value === undefined ? 'nothing' : brief(value, 40)
}

function nextData(next: RecordedRequest): NextData {
  return { frame: next.frame, method: next.method, params: briefValue(comparedParams(next)) }
}

function nearestData({ frame, distance, entry, differences }: Candidate): NearestData {
  return {
    frame,
    distance: Math.round(distance * 1000) / 1000,
    used: entry.used,
    of: entry.answers,
    differences: differences.slice(0, DIFFERENCES).map(({ path, ...sides }) => ({
      path: formatPath(path),
      ...('recorded' in sides && { recorded: briefValue(sides.recorded) }),
      ...('got' in sides && { got: briefValue(sides.got) }),
    })),
  }
}

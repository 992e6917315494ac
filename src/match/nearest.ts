import { diffFields, type Difference } from './field-diff.ts'
import { comparedParams, type Asked } from './key.ts'
import type { Path } from '../wire/path.ts'
import type { Entry } from './matcher.ts'

/** A recorded request that came near, and what keeps it from being the answer. */
export interface Candidate {
  readonly entry: Entry
  /** The recording that would be used next. */
  readonly frame: number
  readonly distance: number
  readonly fields: number
  readonly differences: readonly Difference[]
  readonly equal: readonly Path[]
}

/** The recorded requests, nearest first; at the same distance an unused one comes before a spent one. */
export function rankByDistance(
  asked: Asked,
  entries: readonly Entry[],
  ignore: readonly Path[],
): readonly Candidate[] {
  const got = comparedParams(asked, ignore)
  const candidates = entries.map((entry) => candidateOf(entry, got, ignore))
  return candidates.toSorted((a, b) => a.distance - b.distance || spent(a) - spent(b) || a.frame - b.frame)
}

function candidateOf(entry: Entry, got: unknown, ignore: readonly Path[]): Candidate {
  const { distance, fields, differences, equal } = diffFields(comparedParams(entry.request, ignore), got, [
    'params',
  ])
  return { entry, frame: entry.frame, distance, fields, differences, equal }
}

function spent({ entry }: Candidate): number {
  return entry.used < entry.answers ? 0 : 1
}

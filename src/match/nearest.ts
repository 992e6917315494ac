import { isObject, member } from '../wire/message.ts'
import type { Path } from '../wire/path.ts'
import type { Evidence } from './evidence.ts'
import type { Difference } from './field-diff.ts'
import type { Asked } from './key.ts'
import type { Entry } from './matcher.ts'
import type { Matching } from './matching.ts'

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

export interface Ranking {
  readonly matching: Matching
  readonly evidence: Pick<Evidence, 'timesOf'>
}

/** The recorded requests, nearest first; at the same distance an unused one comes before a spent one. */
export function rankByDistance(
  asked: Asked,
  entries: readonly Entry[],
  ranking: Ranking,
): readonly Candidate[] {
  const candidates = mostAlike(asked, entries).map((entry) => candidateOf(entry, asked, ranking))
  return candidates.toSorted(
    (a, b) => a.distance - b.distance || spent(a.entry) - spent(b.entry) || a.frame - b.frame,
  )
}

function candidateOf(entry: Entry, asked: Asked, { matching, evidence }: Ranking): Candidate {
  // Only rules look at the times, and to find them is a search.
  const times = matching.rules.length === 0 ? { recorded: 0, live: 0 } : evidence.timesOf(entry)
  return { entry, frame: entry.frame, ...matching.diff(entry.request, asked, times) }
}

function spent({ used, answers }: Entry): number {
  return used < answers ? 0 : 1
}

const LOOKED_AT = 60

/** The few that are worth a look at every field: on a long tape most have nothing in common with the request. */
function mostAlike(asked: Asked, entries: readonly Entry[]): readonly Entry[] {
  if (entries.length <= LOOKED_AT) return entries
  const got = toldIn(asked)
  const rated = entries.map((entry) => ({ entry, shared: sharedWith(got, toldIn(entry.request)) }))
  rated.sort(
    (a, b) => b.shared - a.shared || spent(a.entry) - spent(b.entry) || a.entry.frame - b.entry.frame,
  )
  return rated.slice(0, LOOKED_AT).map(({ entry }) => entry)
}

function toldIn({ params }: Asked): unknown {
  return member(params, 'arguments') ?? params
}

function sharedWith(got: unknown, recorded: unknown): number {
  if (!isObject(got) || !isObject(recorded)) return got === recorded ? 1 : 0
  let shared = 0
  for (const name of Object.keys(got)) {
    if (!Object.hasOwn(recorded, name)) continue
    shared += got[name] === recorded[name] ? 2 : 1
  }
  return shared - Object.keys(recorded).length / 1_000
}

import type { Context } from './finding.ts'
import type { Asked } from './key.ts'
import type { Entry, RecordedRequest } from './matcher.ts'
import { nameOf } from './name.ts'
import type { Candidate } from './nearest.ts'
import type { Rule } from './rule.ts'

export interface TrialContext extends Context {
  /** How many earlier misses came nearest to a request: they will want an answer too. */
  readonly claims: ReadonlyMap<RecordedRequest, number>
}

/** Rules under which the request has an answer, and what they change besides. */
export interface Tried {
  readonly rules: readonly Rule[]
  /** How many recorded requests, different until now, then count as the same. */
  readonly merged: number
  /** Whether there are fewer answers than requests that want them. */
  readonly isShort: boolean
}

/** Tries rules on a request that missed; undefined when it would be a miss under them, too. */
export function tried(
  asked: Asked,
  { entry }: Candidate,
  rules: readonly Rule[],
  { matching, evidence, entries, claims, index }: TrialContext,
): Tried | undefined {
  const looser = matching.with(rules)
  const isAnswered = (other: Entry): boolean => looser.answers(other.request, asked, evidence.timesOf(other))
  if (rules.length === 0 || !isAnswered(entry)) return undefined
  const others = entriesLike(asked, entries()).filter(({ request }) => request !== entry.request)
  const merged = [entry, ...others.filter(isAnswered)]
  if (matching.strategy.inOrder && !merged.some(({ frame }) => frame === index.next()?.frame))
    return undefined
  const answers = sum(merged, (other) => other.answers)
  const wanted = sum(merged, (other) => other.used + (claims.get(other.request) ?? 0)) + 1
  return { rules, merged: merged.length, isShort: wanted > answers }
}

const LOOKED_AT = 1_000

function entriesLike(asked: Asked, entries: readonly Entry[]): readonly Entry[] {
  return entries
    .filter(({ request }) => request.method === asked.method && nameOf(request) === nameOf(asked))
    .slice(0, LOOKED_AT)
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}

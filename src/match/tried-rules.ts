import type { Context } from './finding.ts'
import type { Asked } from './key.ts'
import type { Entry, RequestKind } from './matcher.ts'
import { nameOf } from '../wire/name.ts'
import type { Candidate } from './nearest.ts'
import type { Rule } from './rule.ts'

export interface TrialContext extends Context {
  /** How many earlier misses came nearest to a request, by its frame: they will want an answer too. */
  readonly claims: ReadonlyMap<number, number>
  /** The recorded requests that the same rules may govern; on a long tape to find them is work, to be done once. */
  readonly others: () => readonly Entry[]
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
  { matching, evidence, claims, index, others: governed }: TrialContext,
): Tried | undefined {
  const looser = matching.with(rules)
  const isAnswered = (other: Entry): boolean => looser.answers(other.request, asked, evidence.timesOf(other))
  if (rules.length === 0 || !isAnswered(entry)) return undefined
  const others = governed().filter(({ request }) => request.frame !== entry.request.frame)
  const merged = [entry, ...others.filter(isAnswered)]
  if (matching.strategy.inOrder && !merged.some(({ frame }) => frame === index.next()?.frame))
    return undefined
  const answers = sum(merged, (other) => other.answers)
  const wanted = sum(merged, (other) => other.used + (claims.get(other.request.frame) ?? 0)) + 1
  return { rules, merged: merged.length, isShort: wanted > answers }
}

const LOOKED_AT = 1_000

/** Finds the recorded requests of the same tool when they are first asked for. */
export function othersLike(asked: Asked, index: TrialContext['index']): TrialContext['others'] {
  let found: readonly Entry[] | undefined
  const isMeant = ({ method, name }: RequestKind): boolean =>
    method === asked.method && name === nameOf(asked)
  return () => (found ??= index.entries({ isMeant, like: asked }).slice(0, LOOKED_AT))
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}

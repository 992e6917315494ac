import type { MissContext } from './finding.ts'
import type { RequestContent } from './request-key.ts'
import type { RequestUsage, RequestKind } from './matcher.ts'
import { toolOrPromptName } from '../wire/name.ts'
import type { NearestRequest } from './miss/nearest.ts'
import type { MatchRule } from './rules.ts'

export interface RuleTrialContext extends MissContext {
  /** How many earlier misses came nearest to a request, by its frame: they will want an answer too. */
  readonly claims: ReadonlyMap<number, number>
  /** The recorded requests that the same rules may govern; on a long tape to find them is work, to be done once. */
  readonly others: () => readonly RequestUsage[]
}

/** Rules under which the request has an answer, and what they change besides. */
export interface RuleTrial {
  readonly rules: readonly MatchRule[]
  /** How many recorded requests, different until now, then count as the same. */
  readonly merged: number
  /** Whether there are fewer answers than requests that want them. */
  readonly isShort: boolean
}

/** Tries rules on a request that missed; undefined when it would be a miss under them, too. */
export function tryRules(
  asked: RequestContent,
  { entry }: NearestRequest,
  rules: readonly MatchRule[],
  { matching, evidence, claims, index, others: governed }: RuleTrialContext,
): RuleTrial | undefined {
  const looser = matching.withRules(rules)
  const isAnswered = (other: RequestUsage): boolean =>
    looser.answers(other.request, asked, evidence.timesOf(other))
  if (rules.length === 0 || !isAnswered(entry)) return undefined
  const others = governed().filter(({ request }) => request.frame !== entry.request.frame)
  const merged = [entry, ...others.filter(isAnswered)]
  if (matching.strategy.inOrder && !merged.some(({ frame }) => frame === index.next()?.frame))
    return undefined
  const answers = sum(merged, (other) => other.answers)
  const wanted = sum(merged, (other) => other.used + (claims.get(other.request.frame) ?? 0)) + 1
  return { rules, merged: merged.length, isShort: wanted > answers }
}

const MOST_TRIED = 1_000

/** Finds the recorded requests of the same tool when they are first asked for. */
export function similarRequests(
  asked: RequestContent,
  index: RuleTrialContext['index'],
): RuleTrialContext['others'] {
  let found: readonly RequestUsage[] | undefined
  const isMeant = ({ method, name }: RequestKind): boolean =>
    method === asked.method && name === toolOrPromptName(asked)
  return () => (found ??= index.entries({ isMeant, like: asked }).slice(0, MOST_TRIED))
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}

import { EVERY_ITEM, type PathPattern } from '../json/path.ts'
import { calledTool } from './describe-request.ts'
import type { Comparison } from './comparisons/comparison.ts'
import type { RequestContent } from './request-key.ts'
import { isRuleInScope, type MatchRule } from './rules.ts'

/** The rules for one kind of request. */
export interface ScopedRules {
  readonly ignore: readonly PathPattern[]
  /** Those that compare in their own way; of several for one place the first holds. */
  readonly governing: readonly MatchRule[]
}

/** All rules, looked up by the request that they may be for. */
export class MatchRules {
  readonly rules: readonly MatchRule[]
  readonly #inScope = new Map<string, ScopedRules>()

  constructor(rules: readonly MatchRule[]) {
    this.rules = rules
  }

  for(asked: RequestContent): ScopedRules {
    if (this.rules.length === 0) return NO_RULES
    const key = JSON.stringify([asked.server, asked.method, calledTool(asked)])
    const known = this.#inScope.get(key)
    if (known !== undefined) return known
    const found = selectRules(this.rules, asked)
    // A hostile client makes up names without end.
    if (this.#inScope.size < MOST_SCOPES) this.#inScope.set(key, found)
    return found
  }
}

const NO_RULES: ScopedRules = { ignore: [], governing: [] }
const MOST_SCOPES = 1_000

function selectRules(all: readonly MatchRule[], asked: RequestContent): ScopedRules {
  const rules = all.filter((rule) => isRuleInScope(rule, asked))
  return {
    ignore: rules.filter(({ comparison }) => comparison.leavesOut).map(({ path }) => path),
    governing: rules.filter(({ comparison }) => !comparison.leavesOut),
  }
}

/** The comparison that holds at a place; none where values must be equal. */
export function comparisonAt({ governing }: ScopedRules, place: PathPattern): Comparison | undefined {
  return governing.find(({ path }) => pathMatches(path, place))?.comparison
}

function pathMatches(path: PathPattern, place: PathPattern): boolean {
  return path.length === place.length && path.every((segment, depth) => segmentMatches(segment, place[depth]))
}

function segmentMatches(segment: PathPattern[number], place: PathPattern[number] | undefined): boolean {
  return segment === place || (segment === EVERY_ITEM && typeof place === 'number')
}

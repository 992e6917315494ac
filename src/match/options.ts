import { formatPath } from '../json/path.ts'
import { ignoreKind } from './comparisons/ignore.ts'
import { parseIgnoredPaths } from './request-key.ts'
import type { Matcher } from './matcher.ts'
import { RequestComparer } from './request-comparer.ts'
import { parseMatchRule, type MatchRule } from './rules.ts'
import { findStrategy } from './strategies/index.ts'

/** How live requests are matched with recorded ones. */
export interface MatchOptions {
  /** `method-and-params` (the default), `exact`, `method`, `subset` (also called `fuzzy`) or `sequential`. */
  readonly match?: string
  /** Rules for parts of requests, such as `tools/call search params.arguments.date relative-date`. */
  readonly rules?: readonly string[]
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. Without it, a spent request is a miss. */
  readonly permissive?: boolean
}

/** Reads the options; of two rules for one place the first holds. */
export function createComparer({ match, rules = [], ignore = [] }: MatchOptions): RequestComparer {
  const ignored = parseIgnoredPaths(ignore).map((path): MatchRule => ({
    path,
    comparison: ignoreKind.parse(''),
  }))
  return new RequestComparer(match === undefined ? undefined : findStrategy(match), [
    ...ignored,
    ...rules.map(parseMatchRule),
  ])
}

/** How a matcher compares requests. */
export function comparerOf({ matching, ignore }: Pick<Matcher, 'matching' | 'ignore'>): RequestComparer {
  return matching ?? createComparer({ ignore: ignore.map(formatPath) })
}

/** Whether requests are compared by method and params alone, but for parts that are ignored everywhere. */
export function usesKeysOnly({ strategy, rules }: RequestComparer): boolean {
  return strategy.name === 'method-and-params' && rules.every(isUnscopedIgnore)
}

function isUnscopedIgnore({ server, method, tool, comparison }: MatchRule): boolean {
  return comparison.leavesOut === true && [server, method, tool].every((word) => word === undefined)
}

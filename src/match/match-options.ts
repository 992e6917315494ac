import { formatPath } from '../wire/path.ts'
import { ignoreKind } from './comparisons/ignore.ts'
import { parseIgnored } from './key.ts'
import type { Matcher } from './matcher.ts'
import { Matching } from './matching.ts'
import { parseRule, type Rule } from './rule.ts'
import { strategyNamed } from './strategies/index.ts'

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
export function matchingOf({ match, rules = [], ignore = [] }: MatchOptions): Matching {
  const ignored = parseIgnored(ignore).map((path): Rule => ({ path, comparison: ignoreKind.parse('') }))
  return new Matching(match === undefined ? undefined : strategyNamed(match), [
    ...ignored,
    ...rules.map(parseRule),
  ])
}

/** How a matcher compares requests. */
export function matchingIn({ matching, ignore }: Pick<Matcher, 'matching' | 'ignore'>): Matching {
  return matching ?? matchingOf({ ignore: ignore.map(formatPath) })
}

/** Whether requests are compared by method and params alone, but for parts that are ignored everywhere. */
export function isPlain({ strategy, rules }: Matching): boolean {
  return strategy.name === 'method-and-params' && rules.every(isPlainIgnore)
}

function isPlainIgnore({ server, method, tool, comparison }: Rule): boolean {
  return comparison.leavesOut === true && [server, method, tool].every((word) => word === undefined)
}

import { turnsInMemory, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { formatPath } from '../json/path.ts'
import { KeyedMatcher } from './keyed-matcher.ts'
import { usesKeysOnly, createComparer, type MatchOptions } from './options.ts'
import type { Matcher } from './matcher.ts'
import { RequestGroups } from './request-groups.ts'
import { StrategyMatcher } from './strategy-matcher.ts'

export interface MatcherOptions extends MatchOptions {
  /** Only what was sent to this server counts as recorded. */
  readonly server?: string
  /** When the recording began, as in the tape's header: the rule `relative-date` needs it. */
  readonly started?: string
  readonly now?: () => number
}

/** The index that is fast where requests are told apart by a key, or else the one that compares them. */
export function createMatcher(turns: readonly Turn[] | TurnStore, options: MatcherOptions = {}): Matcher {
  const { permissive = false, server, started, now = Date.now } = options
  const store = 'size' in turns ? turns : turnsInMemory(turns)
  const matching = createComparer(options)
  if (usesKeysOnly(matching)) {
    const ignore = matching.rules.map(({ path }) => formatPath(path))
    return new KeyedMatcher(store, { ignore, permissive, ...(server !== undefined && { server }) })
  }
  const shelves = new RequestGroups(store, { matching, server })
  return new StrategyMatcher(shelves, { permissive, started: Date.parse(started ?? ''), now })
}

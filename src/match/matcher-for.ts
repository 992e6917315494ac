import { heldTurns, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { formatPath } from '../wire/path.ts'
import { KeyedIndex } from './keyed-index.ts'
import { isPlain, matchingOf, type MatchOptions } from './match-options.ts'
import type { Matcher } from './matcher.ts'
import { Shelves } from './shelves.ts'
import { StrategyIndex } from './strategy-index.ts'

export interface IndexOptions extends MatchOptions {
  /** Only what was sent to this server counts as recorded. */
  readonly server?: string
  /** When the recording began, as in the tape's header: the rule `relative-date` needs it. */
  readonly started?: string
  readonly now?: () => number
}

/** The index that is fast where requests are told apart by a key, or else the one that compares them. */
export function matcherFor(turns: readonly Turn[] | TurnStore, options: IndexOptions = {}): Matcher {
  const { permissive = false, server, started, now = Date.now } = options
  const store = 'size' in turns ? turns : heldTurns(turns)
  const matching = matchingOf(options)
  if (isPlain(matching)) {
    const ignore = matching.rules.map(({ path }) => formatPath(path))
    return new KeyedIndex(store, { ignore, permissive, ...(server !== undefined && { server }) })
  }
  const shelves = new Shelves(store, { matching, server })
  return new StrategyIndex(shelves, { permissive, started: Date.parse(started ?? ''), now })
}

import { EVERY, type Path } from '../wire/path.ts'
import { toolOf } from './brief.ts'
import type { Comparison } from './comparisons/comparison.ts'
import type { Asked } from './key.ts'
import { isInScope, type Rule } from './rule.ts'

/** The rules for one kind of request. */
export interface RulesInScope {
  readonly ignore: readonly Path[]
  /** Those that compare in their own way; of several for one place the first holds. */
  readonly governing: readonly Rule[]
}

/** All rules, looked up by the request that they may be for. */
export class Ruleset {
  readonly rules: readonly Rule[]
  readonly #inScope = new Map<string, RulesInScope>()

  constructor(rules: readonly Rule[]) {
    this.rules = rules
  }

  for(asked: Asked): RulesInScope {
    if (this.rules.length === 0) return NONE
    const key = JSON.stringify([asked.server, asked.method, toolOf(asked)])
    const known = this.#inScope.get(key)
    if (known !== undefined) return known
    const found = inScope(this.rules, asked)
    // A hostile client makes up names without end.
    if (this.#inScope.size < MOST_SCOPES) this.#inScope.set(key, found)
    return found
  }
}

const NONE: RulesInScope = { ignore: [], governing: [] }
const MOST_SCOPES = 1_000

function inScope(all: readonly Rule[], asked: Asked): RulesInScope {
  const rules = all.filter((rule) => isInScope(rule, asked))
  return {
    ignore: rules.filter(({ comparison }) => comparison.leavesOut).map(({ path }) => path),
    governing: rules.filter(({ comparison }) => !comparison.leavesOut),
  }
}

/** The comparison that holds at a place; none where values must be equal. */
export function comparisonAt({ governing }: RulesInScope, place: Path): Comparison | undefined {
  return governing.find(({ path }) => leadsTo(path, place))?.comparison
}

function leadsTo(path: Path, place: Path): boolean {
  return path.length === place.length && path.every((segment, depth) => isAt(segment, place[depth]))
}

function isAt(segment: Path[number], place: Path[number] | undefined): boolean {
  return segment === place || (segment === EVERY && typeof place === 'number')
}

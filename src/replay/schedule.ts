import type { Planned } from './plan.ts'
import { seededRandom } from '../seeded-random.ts'

/** In which order messages go out. */
export type Ordering =
  /** As recorded: each waits for what it waited for then, and what was parallel stays parallel. */
  | { readonly kind: 'correlated' }
  /** One at a time. */
  | { readonly kind: 'sequential' }
  /** Methods with a higher number first; among equals as recorded. */
  | { readonly kind: 'priority'; readonly of: Readonly<Record<string, number>> }
  | { readonly kind: 'random'; readonly seed: number }

/** A message with its turn in the run. */
export interface Scheduled {
  readonly planned: Planned
  /** Messages, by index, that must be over before it goes out. */
  readonly dependencies: readonly number[]
}

/**
 * The order of the run. `producersOf` names the messages whose answers hold values that this one sends: no order may
 * put it before them.
 */
export function scheduled(
  plan: readonly Planned[],
  ordering: Ordering,
  producersOf: (index: number) => readonly number[],
): readonly Scheduled[] {
  const { kind } = ordering
  if (kind === 'correlated') return plan.map((planned) => ({ planned, dependencies: planned.after }))
  if (kind === 'sequential')
    return plan.map((planned, place) => ({ planned, dependencies: place === 0 ? [] : [place - 1] }))
  const rank = kind === 'priority' ? priorityRank(ordering.of) : randomRank(ordering.seed)
  return byRank(plan, rank, producersOf)
}

type Rank = (planned: Planned) => number

function priorityRank(of: Readonly<Record<string, number>>): Rank {
  return ({ message: { method } }) => (Object.hasOwn(of, method) ? -(of[method] ?? 0) : 0)
}

function randomRank(seed: number): Rank {
  const random = seededRandom(seed)
  return () => random()
}

/** The lowest rank first, as far as the values that messages carry allow it. */
function byRank(
  plan: readonly Planned[],
  rank: Rank,
  producersOf: (index: number) => readonly number[],
): readonly Scheduled[] {
  const ranked = plan.map((planned) => ({
    planned,
    rank: rank(planned),
    dependencies: producersOf(planned.index),
  }))
  const waiting = ranked.toSorted((a, b) => a.rank - b.rank || a.planned.index - b.planned.index)
  const placed = new Set<number>()
  const order: Scheduled[] = []
  while (waiting.length > 0) {
    const place = waiting.findIndex(({ dependencies }) => dependencies.every((one) => placed.has(one)))
    const [next] = waiting.splice(Math.max(place, 0), 1)
    if (next === undefined) break
    placed.add(next.planned.index)
    order.push({ planned: next.planned, dependencies: next.dependencies })
  }
  return order
}

import type { Plan, Planned } from './plan.ts'
import { seededRandom } from '../seeded-random.ts'
import { rankOrder } from './rank-order.ts'

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
interface Scheduled {
  readonly planned: Planned
  /** Messages, by index, that must be over before it goes out. */
  readonly dependencies: readonly number[]
}

/** What goes out, in its order. */
export interface Schedule extends Iterable<Scheduled> {
  readonly size: number
}

/**
 * The order of the run. `producersOf` names the messages whose answers hold values that this one sends: no order may
 * put it before them.
 */
export function scheduled(
  plan: Plan,
  ordering: Ordering,
  producersOf: (index: number) => readonly number[],
): Schedule {
  const { kind } = ordering
  if (kind === 'correlated') return inOrder(plan, undefined, ({ after }) => after)
  if (kind === 'sequential') return inOrder(plan, undefined, ({ index }) => (index === 0 ? [] : [index - 1]))
  const rank = kind === 'priority' ? priorityRank(ordering.of) : randomRank(ordering.seed)
  return inOrder(plan, rankOrder(Float64Array.from(plan, rank), producersOf), ({ index }) =>
    producersOf(index),
  )
}

/** Each message is read when its turn comes, and let go of when it is over. */
function inOrder(
  plan: Plan,
  order: readonly number[] | undefined,
  dependenciesOf: (planned: Planned) => readonly number[],
): Schedule {
  return {
    size: plan.size,
    *[Symbol.iterator]() {
      for (let turn = 0; turn < plan.size; turn++) {
        const planned = plan.at(order === undefined ? turn : (order[turn] ?? 0))
        yield { planned, dependencies: dependenciesOf(planned) }
      }
    },
  }
}

type Rank = (planned: Planned) => number

function priorityRank(of: Readonly<Record<string, number>>): Rank {
  return ({ message: { method } }) => (Object.hasOwn(of, method) ? -(of[method] ?? 0) : 0)
}

function randomRank(seed: number): Rank {
  const random = seededRandom(seed)
  return () => random()
}

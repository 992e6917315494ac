import type { ReplayPlan, PlannedMessage } from './plan.ts'
import { seededRandom } from '../../seeded-random.ts'
import { rankOrder } from '../rank-order.ts'

/** In which order messages go out. */
export type Ordering =
  /** As recorded: each waits for what it waited for then, and what was parallel stays parallel. */
  | { readonly kind: 'correlated' }
  /** One at a time. */
  | { readonly kind: 'sequential' }
  /** Methods with a higher number first; among equals as recorded. */
  | { readonly kind: 'priority'; readonly of: Readonly<Record<string, number>> }
  | { readonly kind: 'random'; readonly seed: number }

/** What goes out, in its order. Each message is read when its turn comes, and let go of when it is over. */
export interface Schedule {
  readonly size: number
  at(turn: number): PlannedMessage
  /** Messages, by index, that must be over before it goes out. */
  dependenciesOf(planned: PlannedMessage): readonly number[]
}

/**
 * The order of the run. `producersOf` names the messages whose answers hold values that this one sends: no order may
 * put it before them.
 */
export function scheduleMessages(
  plan: ReplayPlan,
  ordering: Ordering,
  producersOf: (index: number) => readonly number[],
): Schedule {
  const { kind } = ordering
  if (kind === 'correlated') return scheduleOf(plan, undefined, ({ after }) => after)
  if (kind === 'sequential')
    return scheduleOf(plan, undefined, ({ index }) => (index === 0 ? [] : [index - 1]))
  const rank = kind === 'priority' ? priorityRank(ordering.of) : randomRank(ordering.seed)
  return scheduleOf(plan, rankOrder(Float64Array.from(plan, rank), producersOf), ({ index }) =>
    producersOf(index),
  )
}

function scheduleOf(
  plan: ReplayPlan,
  order: readonly number[] | undefined,
  dependenciesOf: (planned: PlannedMessage) => readonly number[],
): Schedule {
  const at = (turn: number): PlannedMessage => plan.at(order === undefined ? turn : (order[turn] ?? 0))
  return { size: plan.size, at, dependenciesOf }
}

type Rank = (planned: PlannedMessage) => number

function priorityRank(of: Readonly<Record<string, number>>): Rank {
  return ({ message: { method } }) => (Object.hasOwn(of, method) ? -(of[method] ?? 0) : 0)
}

function randomRank(seed: number): Rank {
  const random = seededRandom(seed)
  return () => random()
}

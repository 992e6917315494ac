import type { CarriedValues } from '../values/carried-values.ts'
import type { ReplayPlan, PlannedMessage } from './plan.ts'
import { seededRandom } from '../../seeded-random.ts'
import { indexesUpTo } from '../../store/columns.ts'

/** The order in which messages are sent. */
export type Ordering =
  /** As recorded: a message waits for the same answers as in the recording, and parallel messages stay parallel. */
  | { readonly kind: 'correlated' }
  /** One at a time: a message waits until the one before it is done. Requests that the tape cancels, and subscriptions, stay open. */
  | { readonly kind: 'sequential' }
  /** Methods with a higher number first; methods with the same number as recorded. */
  | { readonly kind: 'priority'; readonly of: Readonly<Record<string, number>> }
  | { readonly kind: 'random'; readonly seed: number }

/** The messages of a run in the order in which they are sent. A message is read from the tape on demand. */
export interface Schedule {
  readonly size: number
  at(turn: number): PlannedMessage
  /** Indexes of messages that must be done before this one is sent. */
  dependenciesOf(planned: PlannedMessage): readonly number[]
  /** True if messages also wait for requests that got no answer when they were recorded. */
  readonly isOneByOne: boolean
  /** Returns true for a request that stays open while later messages are sent. */
  isLeftOpen(planned: PlannedMessage): boolean
}

/** Orders the messages of a run. In every order, a message comes after those whose answers contain values that it sends. */
export function scheduleMessages(
  plan: ReplayPlan,
  ordering: Ordering = { kind: 'correlated' },
  values: CarriedValues,
): Schedule {
  const producersOf = (index: number): readonly number[] => values.producersOf(index)
  const { kind } = ordering
  if (kind === 'correlated') return scheduleOf(plan, undefined, ({ after }) => after)
  if (kind === 'sequential') {
    const before = ({ index }: PlannedMessage): readonly number[] =>
      index === 0 || plan.isLeftOpen(plan.at(index - 1)) ? [] : [index - 1]
    return { ...scheduleOf(plan, undefined, before), isOneByOne: true }
  }
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
  const isLeftOpen = plan.isLeftOpen.bind(plan)
  return { size: plan.size, at, dependenciesOf, isOneByOne: false, isLeftOpen }
}

type Rank = (planned: PlannedMessage) => number

function priorityRank(of: Readonly<Record<string, number>>): Rank {
  return ({ message: { method } }) => (Object.hasOwn(of, method) ? -(of[method] ?? 0) : 0)
}

function randomRank(seed: number): Rank {
  const random = seededRandom(seed)
  return () => random()
}

/**
 * Sorts messages, given by index, by rank and then by tape order, but always after the messages that their values come from. In a
 * cycle, the message with the lowest rank comes first.
 */
export function rankOrder(
  ranks: Float64Array,
  producersOf: (index: number) => readonly number[],
): readonly number[] {
  const byRank = indexesUpTo(ranks.length).toSorted((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b)
  const placeOf = inverse(byRank)
  const ready = new MinHeap()
  const waiting = new DependencyCounts(ranks.length, producersOf, (index) => ready.push(placeOf[index] ?? 0))
  const order: number[] = []
  for (let next = 0; order.length < byRank.length;) {
    const index = byRank[ready.pop() ?? next++]
    if (index === undefined || waiting.isOver(index)) continue
    order.push(index)
    waiting.over(index)
  }
  return order
}

function inverse(order: Uint32Array): Uint32Array {
  const places = new Uint32Array(order.length)
  for (const [place, index] of order.entries()) places[index] = place
  return places
}

/** Counts for each message how many others it still waits for. */
class DependencyCounts {
  readonly #open: Uint32Array
  readonly #isOver: Uint8Array
  readonly #consumers = new Map<number, number[]>()
  readonly #onReady: (index: number) => void

  constructor(
    size: number,
    producersOf: (index: number) => readonly number[],
    onReady: (index: number) => void,
  ) {
    this.#open = new Uint32Array(size)
    this.#isOver = new Uint8Array(size)
    this.#onReady = onReady
    for (let index = 0; index < size; index++) this.#add(index, new Set(producersOf(index)))
  }

  isOver(index: number): boolean {
    return this.#isOver[index] === 1
  }

  over(index: number): void {
    this.#isOver[index] = 1
    for (const consumer of this.#consumers.get(index) ?? []) {
      const open = (this.#open[consumer] ?? 0) - 1
      this.#open[consumer] = open
      if (open === 0) this.#onReady(consumer)
    }
  }

  #add(index: number, producers: ReadonlySet<number>): void {
    this.#open[index] = producers.size
    for (const producer of producers)
      this.#consumers.set(producer, [...(this.#consumers.get(producer) ?? []), index])
    if (producers.size === 0) this.#onReady(index)
  }
}

/** A priority queue of numbers, smallest first. */
class MinHeap {
  readonly #numbers: number[] = []

  push(number: number): void {
    let at = this.#numbers.push(number) - 1
    while (at > 0 && this.#at((at - 1) >> 1) > number) {
      this.#numbers[at] = this.#at((at - 1) >> 1)
      at = (at - 1) >> 1
    }
    this.#numbers[at] = number
  }

  pop(): number | undefined {
    const first = this.#numbers[0]
    const last = this.#numbers.pop()
    if (last !== undefined && this.#numbers.length > 0) this.#sink(last)
    return first
  }

  #sink(number: number): void {
    let at = 0
    for (;;) {
      const left = at * 2 + 1
      const child = this.#at(left + 1) < this.#at(left) ? left + 1 : left
      if (this.#at(child) >= number) break
      this.#numbers[at] = this.#at(child)
      at = child
    }
    this.#numbers[at] = number
  }

  #at(place: number): number {
    return this.#numbers[place] ?? Infinity
  }
}

/** An item that needs values of others: without all items of one of these groups, it makes no sense. */
export interface ItemNeeds {
  readonly item: number
  /** One of them is enough. */
  readonly anyOf: readonly number[]
}

/** Returns the items and everything that needs them, directly or through others. */
export function withDependents(items: Iterable<number>, needs: readonly ItemNeeds[]): ReadonlySet<number> {
  const removed = new Set(items)
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    for (const { item, anyOf } of needs) {
      if (removed.has(item) || !anyOf.every((each) => removed.has(each))) continue
      removed.add(item)
      hasGrown = true
    }
  }
  return removed
}

/** Returns the items that one item needs, directly or through others, and the item itself. */
export function withRequirements(item: number, needs: readonly ItemNeeds[]): ReadonlySet<number> {
  const required = new Set([item])
  for (const each of required)
    for (const { item: consumer, anyOf } of needs)
      if (consumer === each) for (const producer of anyOf) required.add(producer)
  return required
}

interface ReduceOptions {
  readonly needs: readonly ItemNeeds[]
  /** An item that is never removed. */
  readonly keep: number
  /** Returns true if these items are still enough. */
  readonly test: (items: ReadonlySet<number>) => Promise<boolean>
}

/**
 * Removes as many items as possible, in groups that become smaller: counter-based delta debugging. Each round tries groups of
 * 0.63 times the previous size, because most items are removed in the first rounds, and few are needed in the end. An item is
 * only removed together with those that need it. At the end, no single item can be removed.
 */
export async function reduceSet(
  items: ReadonlySet<number>,
  { needs, keep, test }: ReduceOptions,
): Promise<ReadonlySet<number>> {
  let current = items
  for (let size = Math.max(1, Math.round(items.size / FIRST_GROUPS)); ; size = Math.floor(size * SHRINKING)) {
    const before = current
    const groupSize = Math.max(1, size)
    // Late items are tried first, because others rarely need them.
    const order = [...current].filter((item) => item !== keep).toReversed()
    for (let at = 0; at < order.length; at += groupSize) {
      const group = order.slice(at, at + groupSize).filter((item) => current.has(item))
      if (group.length === 0) continue
      const removed = withDependents(group, needs)
      if (removed.has(keep)) continue
      const rest = new Set([...current].filter((item) => !removed.has(item)))
      if (await test(rest)) current = rest
    }
    if (groupSize === 1 && current === before) return current
  }
}

const FIRST_GROUPS = 4
const SHRINKING = 0.63

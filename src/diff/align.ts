import { canonicalJson } from '../json/canonical.ts'
import { isObject } from '../protocol/message.ts'
import { findIdentityKey } from './identity-key.ts'
import { longestCommonSubsequence } from './sequence-diff.ts'
import { similarityOf } from './similarity.ts'

/** Which item is which: places in the expected list, in the actual one, or in both. */
export interface ListAlignment {
  /** Items that are to be compared with each other. */
  readonly pairs: readonly (readonly [expected: number, actual: number])[]
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

export interface ListsToAlign {
  readonly expected: readonly unknown[]
  readonly actual: readonly unknown[]
  readonly order: 'kept' | 'free'
}

/** Pairs the items of two lists: by their identity, else by equal content, else by likeness; a moved item is a pair too. */
export function alignLists(lists: ListsToAlign): ListAlignment {
  const matching = new ItemPairing(lists.expected.length, lists.actual.length)
  const key = lists.order === 'free' ? findIdentityKey(lists.expected, lists.actual) : undefined
  if (key !== undefined)
    pairByKey(lists, matching, (item) => (isObject(item) ? `${typeof item[key]} ${String(item[key])}` : ''))
  else if (lists.order === 'free') pairByKey(lists, matching, canonicalJson)
  else pairInOrder(lists, matching)
  pairBySimilarity(lists, matching)
  return matching.alignment()
}

class ItemPairing {
  readonly #actualOf: (number | undefined)[]
  readonly #taken: boolean[]

  constructor(expected: number, actual: number) {
    this.#actualOf = Array.from({ length: expected }, () => undefined)
    this.#taken = Array.from({ length: actual }, () => false)
  }

  pair(expected: number, actual: number): void {
    this.#actualOf[expected] = actual
    this.#taken[actual] = true
  }

  unpaired(): { readonly expected: readonly number[]; readonly actual: readonly number[] } {
    return {
      expected: indexesWhere(this.#actualOf, (actual) => !isPaired(actual)),
      actual: indexesWhere(this.#taken, (taken) => !taken),
    }
  }

  gapAround(expected: number): Gap {
    return {
      after: this.#actualOf.slice(0, expected).findLast(isPaired) ?? -1,
      before: this.#actualOf.slice(expected).find(isPaired) ?? Infinity,
    }
  }

  alignment(): ListAlignment {
    const alone = this.unpaired()
    const pairs = this.#actualOf.flatMap((actual, expected): [number, number][] =>
      actual === undefined ? [] : [[expected, actual]],
    )
    return { pairs, removed: alone.expected, added: alone.actual }
  }
}

function isPaired(actual: number | undefined): boolean {
  return actual !== undefined
}

function indexesWhere<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly number[] {
  return items.flatMap((item, place) => (test(item) ? [place] : []))
}

function pairByKey(
  { expected, actual }: ListsToAlign,
  matching: ItemPairing,
  keyOf: (item: unknown) => string,
): void {
  const waiting = new Map<string, number[]>()
  for (const [place, item] of actual.entries()) {
    const places = waiting.get(keyOf(item))
    if (places === undefined) waiting.set(keyOf(item), [place])
    else places.push(place)
  }
  for (const [place, item] of expected.entries()) {
    const found = waiting.get(keyOf(item))?.shift()
    if (found !== undefined) matching.pair(place, found)
  }
}

function pairInOrder({ expected, actual }: ListsToAlign, matching: ItemPairing): void {
  const common = longestCommonSubsequence(expected.map(canonicalJson), actual.map(canonicalJson))
  for (const pair of common) matching.pair(pair.expected, pair.actual)
}

const MOST_COMPARISONS = 10_000
const LEAST_SIMILARITY = 0.34

/** What is left is paired with its like; many that are left are paired by their place. */
function pairBySimilarity({ expected, actual, order }: ListsToAlign, matching: ItemPairing): void {
  const alone = matching.unpaired()
  const byPlace = alone.expected.length * alone.actual.length > MOST_COMPARISONS
  const free = new Set(alone.actual)
  for (const place of alone.expected) {
    const gap = order === 'free' ? EVERYWHERE : matching.gapAround(place)
    const candidates = byPlace
      ? firstInGap(free, gap)
      : [...free].filter((at) => at > gap.after && at < gap.before)
    const like = byPlace ? candidates[0] : mostSimilarItem(expected[place], place, candidates, actual)
    if (like === undefined) continue
    free.delete(like)
    matching.pair(place, like)
  }
}

/** The places in the actual list between which a like item may stand without having moved. */
interface Gap {
  readonly after: number
  readonly before: number
}

const EVERYWHERE: Gap = { after: -1, before: Infinity }

function firstInGap(places: ReadonlySet<number>, { after, before }: Gap): readonly number[] {
  for (const at of places) if (at > after) return at < before ? [at] : []
  return []
}

function mostSimilarItem(
  item: unknown,
  place: number,
  candidates: readonly number[],
  actual: readonly unknown[],
): number | undefined {
  let best: { readonly at: number; readonly score: number } | undefined
  for (const at of candidates) {
    const likeness = similarityOf(item, actual[at])
    if (likeness < LEAST_SIMILARITY && at !== place) continue
    const score = likeness - Math.abs(at - place) * 1e-6
    if (best === undefined || score > best.score) best = { at, score }
  }
  return best?.at
}

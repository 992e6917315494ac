import { canonicalJson } from '../wire/canonical.ts'
import { isObject } from '../wire/message.ts'
import { identityKey } from './identity-key.ts'
import { longestCommon } from './lcs.ts'
import { similarity } from './similarity.ts'

/** Which item is which: places in the expected list, in the actual one, or in both. */
export interface Alignment {
  /** Items that are to be compared with each other. */
  readonly pairs: readonly (readonly [expected: number, actual: number])[]
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

export interface Lists {
  readonly expected: readonly unknown[]
  readonly actual: readonly unknown[]
  readonly order: 'kept' | 'free'
}

/** Pairs the items of two lists: by their identity, else by equal content, else by likeness; a moved item is a pair too. */
export function align(lists: Lists): Alignment {
  const matching = new Matching(lists.expected.length, lists.actual.length)
  const key = lists.order === 'free' ? identityKey(lists.expected, lists.actual) : undefined
  if (key !== undefined)
    matchBy(lists, matching, (item) => (isObject(item) ? `${typeof item[key]} ${String(item[key])}` : ''))
  else if (lists.order === 'free') matchBy(lists, matching, canonicalJson)
  else matchInOrder(lists, matching)
  matchByLikeness(lists, matching)
  return matching.alignment()
}

class Matching {
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

  alone(): { readonly expected: readonly number[]; readonly actual: readonly number[] } {
    return {
      expected: placesWhere(this.#actualOf, (actual) => !isPaired(actual)),
      actual: placesWhere(this.#taken, (taken) => !taken),
    }
  }

  gapAround(expected: number): Gap {
    return {
      after: this.#actualOf.slice(0, expected).findLast(isPaired) ?? -1,
      before: this.#actualOf.slice(expected).find(isPaired) ?? Infinity,
    }
  }

  alignment(): Alignment {
    const alone = this.alone()
    const pairs = this.#actualOf.flatMap((actual, expected): [number, number][] =>
      actual === undefined ? [] : [[expected, actual]],
    )
    return { pairs, removed: alone.expected, added: alone.actual }
  }
}

function isPaired(actual: number | undefined): boolean {
  return actual !== undefined
}

function placesWhere<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly number[] {
  return items.flatMap((item, place) => (test(item) ? [place] : []))
}

function matchBy({ expected, actual }: Lists, matching: Matching, keyOf: (item: unknown) => string): void {
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

function matchInOrder({ expected, actual }: Lists, matching: Matching): void {
  const common = longestCommon(expected.map(canonicalJson), actual.map(canonicalJson))
  for (const pair of common) matching.pair(pair.expected, pair.actual)
}

const MOST_COMPARISONS = 10_000
const LEAST_LIKENESS = 0.34

/** What is left is paired with its like; many that are left are paired by their place. */
function matchByLikeness({ expected, actual, order }: Lists, matching: Matching): void {
  const alone = matching.alone()
  const byPlace = alone.expected.length * alone.actual.length > MOST_COMPARISONS
  const free = new Set(alone.actual)
  for (const place of alone.expected) {
    const gap = order === 'free' ? EVERYWHERE : matching.gapAround(place)
    const candidates = byPlace
      ? firstOf(free, gap)
      : [...free].filter((at) => at > gap.after && at < gap.before)
    const like = byPlace ? candidates[0] : mostAlike(expected[place], place, candidates, actual)
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

function firstOf(places: ReadonlySet<number>, { after, before }: Gap): readonly number[] {
  for (const at of places) if (at > after) return at < before ? [at] : []
  return []
}

function mostAlike(
  item: unknown,
  place: number,
  candidates: readonly number[],
  actual: readonly unknown[],
): number | undefined {
  let best: { readonly at: number; readonly score: number } | undefined
  for (const at of candidates) {
    const likeness = similarity(item, actual[at])
    if (likeness < LEAST_LIKENESS && at !== place) continue
    const score = likeness - Math.abs(at - place) * 1e-6
    if (best === undefined || score > best.score) best = { at, score }
  }
  return best?.at
}

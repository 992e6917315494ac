import { jsonTypeOf } from './difference.ts'
import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../json/parse.ts'
import { commonAffixLength } from '../text.ts'

/** Which item is which: places in the expected list, in the actual one, or in both. */
interface ListAlignment {
  /** Items that are to be compared with each other. */
  readonly pairs: readonly (readonly [expected: number, actual: number])[]
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

interface ListsToAlign {
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

/** The member that tells the items of two lists apart: id-like by name, there in every item, unique on each side. */
function findIdentityKey(expected: readonly unknown[], actual: readonly unknown[]): string | undefined {
  const [left, right] = [allObjects(expected), allObjects(actual)]
  if (left === undefined || right === undefined) return undefined
  const names = Object.keys(left[0] ?? {}).filter((name) => ID_LIKE.test(name))
  return names
    .toSorted((a, b) => identityRank(a) - identityRank(b))
    .find((name) => identifiesItems(name, left, right))
}

const ID_LIKE = /^(id|uuid|guid|uri|url|key|slug|path|name|title)$|(Id|_id|Key|_key|Uri|_uri)$/
const BEST_FIRST = ['id', 'uuid', 'guid', 'uri', 'url', 'key', 'slug', 'path', 'name', 'title']

function identityRank(name: string): number {
  const place = BEST_FIRST.indexOf(name)
  return place < 0 ? 3.5 : place
}

function allObjects(items: readonly unknown[]): readonly JsonObject[] | undefined {
  return items.length > 0 && items.every(isObject) ? items : undefined
}

// When hardly a value is on both sides, the ids themselves have changed, and say nothing about which item is which.
function identifiesItems(name: string, left: readonly JsonObject[], right: readonly JsonObject[]): boolean {
  const [ours, theirs] = [memberValues(name, left), memberValues(name, right)]
  if (ours === undefined || theirs === undefined) return false
  const shared = [...ours].filter((value) => theirs.has(value)).length
  return shared * 2 >= Math.min(ours.size, theirs.size)
}

function memberValues(name: string, items: readonly JsonObject[]): ReadonlySet<string | number> | undefined {
  const values = new Set<string | number>()
  for (const item of items) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined
    if (typeof value !== 'string' && typeof value !== 'number') return undefined
    values.add(value)
  }
  return values.size === items.length ? values : undefined
}

/** How much two items have in common, from 0 to 1; a look at their surface is enough to pair them. */
function similarityOf(expected: unknown, actual: unknown): number {
  if (expected === actual) return 1
  if (jsonTypeOf(expected) !== jsonTypeOf(actual)) return 0
  if (isObject(expected) && isObject(actual)) return sharedMembers(expected, actual)
  if (typeof expected === 'string' && typeof actual === 'string') return textSimilarity(expected, actual)
  return 0.4
}

function sharedMembers(expected: JsonObject, actual: JsonObject): number {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  let shared = 0
  for (const name of names) {
    if (!Object.hasOwn(expected, name) || !Object.hasOwn(actual, name)) continue
    shared += memberSimilarity(expected[name], actual[name])
  }
  return names.size === 0 ? 1 : shared / names.size
}

function memberSimilarity(expected: unknown, actual: unknown): number {
  if (expected === actual) return 1
  return jsonTypeOf(expected) === jsonTypeOf(actual) ? 0.4 : 0
}

function textSimilarity(a: string, b: string): number {
  return Math.max(0.2, commonAffixLength(a, b) / Math.max(a.length, b.length, 1))
}

/** Two places that hold the same. */
interface CommonItem {
  readonly expected: number
  readonly actual: number
}

// Lists that have more changes than this have nothing to do with each other.
const MOST_CHANGES = 1000

/** The longest run of common items, in order (Myers 1986); what lists that share too little have in common is not looked for. */
export function longestCommonSubsequence(
  expected: readonly string[],
  actual: readonly string[],
): readonly CommonItem[] {
  const [rows, columns] = [expected.length, actual.length]
  const limit = Math.min(rows + columns, MOST_CHANGES)
  const furthest = new Int32Array(2 * limit + 3)
  const trace: Int32Array[] = []
  for (let changes = 0; changes <= limit; changes++) {
    trace.push(furthest.slice())
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let row = diagonalStart(furthest, diagonal, changes, limit)
      while (row < rows && row - diagonal < columns && expected[row] === actual[row - diagonal]) row++
      furthest[diagonal + limit + 1] = row
      if (row >= rows && row - diagonal >= columns) return traceBack({ trace, limit, rows, columns })
    }
  }
  return []
}

/** Where a path that made so many changes enters a diagonal: from the one above or the one below, whichever got further. */
function diagonalStart(furthest: Int32Array, diagonal: number, changes: number, limit: number): number {
  const below = furthest[diagonal + limit] ?? 0
  const above = furthest[diagonal + limit + 2] ?? 0
  const comesDown = diagonal === -changes || (diagonal !== changes && below < above)
  return comesDown ? above : below + 1
}

interface SubsequenceTrace {
  readonly trace: readonly Int32Array[]
  readonly limit: number
  readonly rows: number
  readonly columns: number
}

function traceBack({ trace, limit, rows, columns }: SubsequenceTrace): readonly CommonItem[] {
  const common: CommonItem[] = []
  let [row, column] = [rows, columns]
  for (let changes = trace.length - 1; changes >= 0; changes--) {
    const furthest = trace[changes] ?? new Int32Array()
    const diagonal = row - column
    const below = furthest[diagonal + limit] ?? 0
    const above = furthest[diagonal + limit + 2] ?? 0
    const comesDown = diagonal === -changes || (diagonal !== changes && below < above)
    const start = changes === 0 ? 0 : comesDown ? above : below + 1
    while (row > start && column > start - diagonal) common.push({ expected: --row, actual: --column })
    if (comesDown) column--
    else row--
  }
  return common.toReversed()
}

import { isTextOrNumber, jsonTypeOf } from './difference.ts'
import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../json/parse.ts'
import { commonAffixLength } from '../text.ts'

/** The correspondence between the items of two lists, by index. */
interface ListAlignment {
  /** Items to compare with each other. */
  readonly pairs: readonly (readonly [expected: number, actual: number])[]
  /** True if the items that are alike come in another order. */
  readonly isReordered: boolean
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

interface ListsToAlign {
  readonly expected: readonly unknown[]
  readonly actual: readonly unknown[]
  readonly order: ListOrder
}

/**
 * How the order of items counts. `kept`: a moved item is removed in one place and added in another. `reported`: items are paired as if the order were
 * free, and another order is a difference of the list. `free`: the order does not count.
 */
export type ListOrder = 'kept' | 'reported' | 'free'

/** Pairs the items of two lists by an id or by equal content, and the remaining items by similarity. */
export function alignLists(lists: ListsToAlign): ListAlignment {
  const pairing = new ItemPairing(lists.expected.length, lists.actual.length)
  const isFree = lists.order !== 'kept'
  const key = isFree ? findIdentityKey(lists.expected, lists.actual) : undefined
  if (key !== undefined)
    pairByKey(lists, pairing, (item) => (isObject(item) ? `${typeof item[key]} ${String(item[key])}` : ''))
  else if (isFree) pairByKey(lists, pairing, canonicalJson)
  else pairInOrder(lists, pairing)
  pairBySimilarity(lists, pairing)
  const isReordered = areReordered(lists, pairing.alignment().pairs)
  if (isFree) pairReplacedValues(lists, pairing)
  return { ...pairing.alignment(), isReordered }
}

/** Numbers that were paired although they differ say nothing about the order: any number is like any other. */
function areReordered({ expected, actual }: ListsToAlign, pairs: ListAlignment['pairs']): boolean {
  let last = -1
  for (const [one, other] of pairs) {
    const item = expected[one]
    if (typeof item !== 'object' && typeof item !== 'string' && item !== actual[other]) continue
    if (other < last) return true
    last = other
  }
  return false
}

class ItemPairing {
  readonly #actualOf: (number | undefined)[]
  readonly #isActualPaired: boolean[]

  constructor(expected: number, actual: number) {
    this.#actualOf = Array.from({ length: expected }, () => undefined)
    this.#isActualPaired = Array.from({ length: actual }, () => false)
  }

  pair(expected: number, actual: number): void {
    this.#actualOf[expected] = actual
    this.#isActualPaired[actual] = true
  }

  unpaired(): { readonly expected: readonly number[]; readonly actual: readonly number[] } {
    return {
      expected: indexesWhere(this.#actualOf, (actual) => !isPaired(actual)),
      actual: indexesWhere(this.#isActualPaired, (paired) => !paired),
    }
  }

  gapAround(expected: number): Gap {
    return {
      after: this.#actualOf.slice(0, expected).findLast(isPaired) ?? -1,
      before: this.#actualOf.slice(expected).find(isPaired) ?? Infinity,
    }
  }

  alignment(): Omit<ListAlignment, 'isReordered'> {
    const unpaired = this.unpaired()
    const pairs = this.#actualOf.flatMap((actual, expected): [number, number][] =>
      actual === undefined ? [] : [[expected, actual]],
    )
    return { pairs, removed: unpaired.expected, added: unpaired.actual }
  }
}

function isPaired(actual: number | undefined): boolean {
  return actual !== undefined
}

function indexesWhere<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly number[] {
  return items.flatMap((item, index) => (test(item) ? [index] : []))
}

function pairByKey(
  { expected, actual }: ListsToAlign,
  pairing: ItemPairing,
  keyOf: (item: unknown) => string,
): void {
  const waiting = new Map<string, number[]>()
  for (const [index, item] of actual.entries()) {
    const indexes = waiting.get(keyOf(item))
    if (indexes === undefined) waiting.set(keyOf(item), [index])
    else indexes.push(index)
  }
  for (const [index, item] of expected.entries()) {
    const found = waiting.get(keyOf(item))?.shift()
    if (found !== undefined) pairing.pair(index, found)
  }
}

function pairInOrder({ expected, actual }: ListsToAlign, pairing: ItemPairing): void {
  const common = longestCommonSubsequence(expected.map(canonicalJson), actual.map(canonicalJson))
  for (const pair of common) pairing.pair(pair.expected, pair.actual)
}

const MOST_COMPARISONS = 10_000
const LEAST_SIMILARITY = 0.34

/** Pairs the remaining items by similarity, or by position if there are too many of them. */
function pairBySimilarity({ expected, actual, order }: ListsToAlign, pairing: ItemPairing): void {
  const unpaired = pairing.unpaired()
  const byPosition = unpaired.expected.length * unpaired.actual.length > MOST_COMPARISONS
  const free = new Set(unpaired.actual)
  for (const index of unpaired.expected) {
    const gap = order !== 'kept' ? EVERYWHERE : pairing.gapAround(index)
    const candidates = byPosition
      ? firstInGap(free, gap)
      : [...free].filter((at) => at > gap.after && at < gap.before)
    const found = byPosition ? candidates[0] : mostSimilarItem(expected[index], index, candidates, actual)
    if (found === undefined) continue
    free.delete(found)
    pairing.pair(index, found)
  }
}

/** A text or a number that is missing was replaced by one that is new, as long as there are both. */
function pairReplacedValues({ expected, actual }: ListsToAlign, pairing: ItemPairing): void {
  const unpaired = pairing.unpaired()
  const [removed, added] = [
    unpaired.expected.filter((at) => isTextOrNumber(expected[at])),
    unpaired.actual.filter((at) => isTextOrNumber(actual[at])),
  ]
  for (const [nth, at] of removed.entries()) {
    const other = added[nth]
    if (other !== undefined && typeof expected[at] === typeof actual[other]) pairing.pair(at, other)
  }
}

/** The range of the actual list in which an item can be without having moved. */
interface Gap {
  readonly after: number
  readonly before: number
}

const EVERYWHERE: Gap = { after: -1, before: Infinity }

function firstInGap(indexes: ReadonlySet<number>, { after, before }: Gap): readonly number[] {
  for (const at of indexes) if (at > after) return at < before ? [at] : []
  return []
}

function mostSimilarItem(
  item: unknown,
  index: number,
  candidates: readonly number[],
  actual: readonly unknown[],
): number | undefined {
  let best: { readonly at: number; readonly score: number } | undefined
  for (const at of candidates) {
    const similarity = similarityOf(item, actual[at])
    if (similarity < LEAST_SIMILARITY && at !== index) continue
    const score = similarity - Math.abs(at - index) * 1e-6
    if (best === undefined || score > best.score) best = { at, score }
  }
  return best?.at
}

/** Finds a member that identifies the items: it has a name like `id`, every item has it, and its values are unique in each list. */
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
  const index = BEST_FIRST.indexOf(name)
  return index < 0 ? 3.5 : index
}

function allObjects(items: readonly unknown[]): readonly JsonObject[] | undefined {
  return items.length > 0 && items.every(isObject) ? items : undefined
}

// If the lists share few values, the ids themselves have changed and identify nothing.
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

/** Returns the similarity of two items from 0 to 1. Only their direct members are compared. */
function similarityOf(expected: unknown, actual: unknown): number {
  if (expected === actual) return 1
  if (jsonTypeOf(expected) !== jsonTypeOf(actual)) return 0
  if (isObject(expected) && isObject(actual)) return sharedMembers(expected, actual)
  if (Array.isArray(expected) && Array.isArray(actual)) return sharedItems(expected, actual)
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

function sharedItems(expected: readonly unknown[], actual: readonly unknown[]): number {
  const [shorter, longer] = expected.length < actual.length ? [expected, actual] : [actual, expected]
  const shared = shorter.reduce<number>((sum, item, at) => sum + memberSimilarity(item, longer[at]), 0)
  return longer.length === 0 ? 1 : Math.max(0.4, shared / longer.length)
}

function memberSimilarity(expected: unknown, actual: unknown): number {
  if (expected === actual) return 1
  return jsonTypeOf(expected) === jsonTypeOf(actual) ? 0.4 : 0
}

function textSimilarity(a: string, b: string): number {
  return Math.max(0.2, commonAffixLength(a, b) / Math.max(a.length, b.length, 1))
}

/** The indexes of an item that both lists have. */
interface CommonItem {
  readonly expected: number
  readonly actual: number
}

// Lists with more changes than this are treated as unrelated.
const MOST_CHANGES = 1000

/** Finds the longest common subsequence (Myers 1986). Returns an empty list if there are too many changes. */
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

/** Returns the row at which a path enters a diagonal: from the neighbouring diagonal that got further. */
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

import { alignLists, type ListOrder } from './align.ts'
import { isGeneratedName, jsonTypeOf, type Difference } from './difference.ts'
import { parseTextPair } from './formats/index.ts'
import { changedParts } from './formats/prose.ts'
import { ExactNumber, parseJsonPair } from '../json/exact-number.ts'
import type { DiffRuleNode } from './rules.ts'
import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../json/parse.ts'

interface CompareSettings extends EqualitySettings {
  readonly order: ListOrder
}

/** Walks through two values in parallel and collects their differences. Paths are copied only for differences. */
export class ValueComparison {
  readonly differences: Difference[] = []
  readonly #settings: CompareSettings
  readonly #path: (string | number)[] = []
  /** The outermost text around the values that are being compared, unless it is JSON. */
  #within: Difference['within']

  constructor(settings: CompareSettings) {
    this.#settings = settings
  }

  compare(expected: unknown, actual: unknown, node: DiffRuleNode | undefined): void {
    if (expected === actual || node?.ignored === true) return
    if (Array.isArray(expected) && Array.isArray(actual)) return this.#arrays(expected, actual, node)
    if (isPlainObject(expected) && isPlainObject(actual)) return this.#objects(expected, actual, node)
    this.#scalars(expected, actual, node)
  }

  #objects(expected: JsonObject, actual: JsonObject, node: DiffRuleNode | undefined): void {
    if (this.#isTooDeep(expected, actual)) return
    const removed: string[] = []
    for (const key in expected) {
      const one = expected[key]
      const other = actual[key]
      if (one === other && one !== undefined && key !== '__proto__') continue
      if (hasOwnMember(actual, key, other)) {
        this.#path.push(key)
        this.compare(one, other, node?.child(key))
        this.#path.pop()
      } else if (isGeneratedName(key)) removed.push(key)
      else this.#member('removed', key, one, node)
    }
    const added: string[] = []
    for (const key in actual) {
      if (hasOwnMember(expected, key, expected[key])) continue
      if (isGeneratedName(key)) added.push(key)
      else this.#member('added', key, actual[key], node)
    }
    if (removed.length + added.length === 0) return
    const renamed = this.#renamed({ expected, removed }, { actual, added }, node)
    for (const key of removed) if (!renamed.has(key)) this.#member('removed', key, expected[key], node)
    for (const key of added) if (!renamed.has(key)) this.#member('added', key, actual[key], node)
  }

  #member(kind: 'added' | 'removed', key: string, value: unknown, node: DiffRuleNode | undefined): void {
    this.#path.push(key)
    this.#addedOrRemoved(kind, value, node?.child(key))
    this.#path.pop()
  }

  /** Compares members whose generated names have changed, paired by their values. Returns both names of each of them. */
  #renamed(
    { expected, removed }: { readonly expected: JsonObject; readonly removed: readonly string[] },
    { actual, added }: { readonly actual: JsonObject; readonly added: readonly string[] },
    node: DiffRuleNode | undefined,
  ): ReadonlySet<string> {
    const renamed = new Set<string>()
    if (removed.length === 0 || added.length === 0) return renamed
    const isMeant = (key: string): boolean => node?.child(key)?.ignored !== true
    const [ours, theirs] = [removed.filter(isMeant), added.filter(isMeant)]
    const { pairs } = alignLists({
      expected: ours.map((key) => expected[key]),
      actual: theirs.map((key) => actual[key]),
      order: 'free',
    })
    for (const [one, other] of pairs) {
      const [name, live] = [ours[one] ?? '', theirs[other] ?? '']
      renamed.add(name).add(live)
      this.#note({ kind: 'renamed', expected: name, actual: live })
      this.#path.push(name)
      this.compare(expected[name], actual[live], node?.child(name))
      this.#path.pop()
    }
    return renamed
  }

  /** Skips equal items at both ends, so that a single changed item needs no alignment. */
  #arrays(expected: readonly unknown[], actual: readonly unknown[], node: DiffRuleNode | undefined): void {
    if (this.#isTooDeep(expected, actual)) return
    const same = (left: number, right: number): boolean =>
      isEqual(expected[left], actual[right], node?.child(left), this.#settings, this.#path.length)
    const shortest = Math.min(expected.length, actual.length)
    const limit = expected.length === actual.length ? shortest - 1 : shortest // If only one item is left, it is compared directly.
    let start = 0
    while (start < limit && same(start, start)) start++
    let tail = 0
    while (tail < limit - start && same(expected.length - 1 - tail, actual.length - 1 - tail)) tail++
    this.#slices(
      { items: expected, start, end: expected.length - tail },
      { items: actual, start, end: actual.length - tail },
      node,
    )
  }

  #slices(expected: ListSlice, actual: ListSlice, node: DiffRuleNode | undefined): void {
    if (expected.start === expected.end && actual.start === actual.end) return
    if (expected.end - expected.start === 1 && actual.end - actual.start === 1)
      return this.#pair(expected, actual, [0, 0], node)
    const order = node?.order ?? this.#settings.order
    const { pairs, isReordered, removed, added } = alignLists({
      expected: expected.items.slice(expected.start, expected.end),
      actual: actual.items.slice(actual.start, actual.end),
      order,
    })
    if (order === 'reported' && isReordered)
      this.#note({ kind: 'order', expected: expected.items, actual: actual.items })
    for (const pair of pairs) this.#pair(expected, actual, pair, node)
    const lengths = { expected: expected.items.length, actual: actual.items.length }
    for (const place of removed) this.#addedOrRemovedItem('removed', expected, place, { lengths, node })
    for (const place of added) this.#addedOrRemovedItem('added', actual, place, { lengths, node })
  }

  #pair(
    expected: ListSlice,
    actual: ListSlice,
    [one, other]: readonly [number, number],
    node: DiffRuleNode | undefined,
  ): void {
    const place = expected.start + one
    this.#path.push(place)
    this.compare(expected.items[place], actual.items[actual.start + other], node?.child(place))
    this.#path.pop()
  }

  #addedOrRemovedItem(
    kind: 'added' | 'removed',
    { items, start }: ListSlice,
    at: number,
    { lengths, node }: { readonly lengths: Difference['lengths']; readonly node: DiffRuleNode | undefined },
  ): void {
    this.#path.push(start + at)
    this.#addedOrRemoved(kind, items[start + at], node?.child(start + at), lengths)
    this.#path.pop()
  }

  #scalars(expected: unknown, actual: unknown, node: DiffRuleNode | undefined): void {
    if (isEqual(expected, actual, node, this.#settings)) return
    if (typeof expected === 'string' && typeof actual === 'string') return this.#texts(expected, actual, node)
    const kind = jsonTypeOf(expected) === jsonTypeOf(actual) ? 'changed' : 'type'
    this.#note({ kind, expected, actual })
  }

  /** Compares two texts by the structure of the expected one. Prose is one value, whose changed parts are named. */
  #texts(expected: string, actual: string, node: DiffRuleNode | undefined): void {
    const parsed = parseTextPair(expected, actual)
    if (parsed.kind === 'lost') return this.#note({ kind: 'format', expected, actual, format: parsed.format })
    const found = this.differences.length
    if (parsed.kind === 'parsed') {
      const { format } = parsed
      const around = this.#within
      if (format.ignoresLayout !== true) this.#within ??= { path: this.#path.slice(), expected, actual }
      this.compare(parsed.expected, parsed.actual, node)
      this.#within = around
      const isSame = canonicalJson(parsed.expected) === canonicalJson(parsed.actual)
      if (format.ignoresLayout === true || !isSame || this.differences.length > found) return
    }
    this.#note({ kind: 'changed', expected, actual, parts: changedParts(expected, actual) })
  }

  #addedOrRemoved(
    kind: 'added' | 'removed',
    value: unknown,
    node: DiffRuleNode | undefined,
    lengths?: Difference['lengths'],
  ): void {
    if (node?.ignored === true) return
    const side = kind === 'added' ? { actual: value } : { expected: value }
    this.#note({ kind, ...side, ...(lengths && { lengths }) })
  }

  #isTooDeep(expected: unknown, actual: unknown): boolean {
    if (this.#path.length <= DEEPEST_COMPARED) return false
    if (canonicalJson(expected) !== canonicalJson(actual)) this.#note({ kind: 'changed', expected, actual })
    return true
  }

  #note(difference: Omit<Difference, 'path'>): void {
    const within = this.#within
    this.differences.push({ path: this.#path.slice(), ...difference, ...(within && { within }) })
  }
}

/** A range of a list. */
interface ListSlice {
  readonly items: readonly unknown[]
  readonly start: number
  readonly end: number
}

function isPlainObject(value: unknown): value is JsonObject {
  return isObject(value) && !(value instanceof ExactNumber)
}

interface EqualitySettings {
  readonly relative: number
}

/** A hostile message may exceed the call stack. Values below this depth are compared as canonical JSON. */
const DEEPEST_COMPARED = 100

/**
 * Returns true if two values are equal under the rules. It is fast, but may return false for equal values that are nested very
 * deeply, so callers have to compare such values again.
 */
function isEqual(
  expected: unknown,
  actual: unknown,
  node: DiffRuleNode | undefined,
  settings: EqualitySettings,
  depth = 0,
): boolean {
  if (expected === actual || node?.ignored === true) return true
  if (typeof expected !== 'object' || typeof actual !== 'object' || expected === null || actual === null)
    return isEqualScalar(expected, actual, node, settings, depth)
  if (depth > DEEPEST_COMPARED) return false
  if (Array.isArray(expected))
    return Array.isArray(actual) && areEqualItems(expected, actual, node, settings, depth + 1)
  if (expected instanceof ExactNumber || actual instanceof ExactNumber) return sameNumber(expected, actual)
  return (
    isObject(expected) && isObject(actual) && areEqualMembers(expected, actual, node, settings, depth + 1)
  )
}

function isWithinTolerance(expected: number, actual: number, relative: number): boolean {
  return Math.abs(expected - actual) <= relative * Math.max(Math.abs(expected), Math.abs(actual))
}

/** Like `Object.hasOwn`, but faster: only values that can be inherited from `Object.prototype` need the check. */
function hasOwnMember(object: object, key: string, value: unknown): boolean {
  if (value !== undefined && typeof value !== 'function' && key !== '__proto__') return true
  return Object.hasOwn(object, key) && value !== undefined
}

function isEqualScalar(
  expected: unknown,
  actual: unknown,
  node: DiffRuleNode | undefined,
  settings: EqualitySettings,
  depth: number,
): boolean {
  const relative = node?.relative ?? settings.relative
  if (relative > 0 && typeof expected === 'number' && typeof actual === 'number')
    return isWithinTolerance(expected, actual, relative)
  if (typeof expected !== 'string' || typeof actual !== 'string') return false
  const inside = parseJsonPair(expected, actual)
  return inside !== undefined && isEqual(inside.expected, inside.actual, node, settings, depth + 1)
}

function areEqualItems(
  expected: readonly unknown[],
  actual: readonly unknown[],
  node: DiffRuleNode | undefined,
  settings: EqualitySettings,
  depth: number,
): boolean {
  if (expected.length !== actual.length) return false
  for (let at = 0; at < expected.length; at++) {
    if (!isEqual(expected[at], actual[at], node?.child(at), settings, depth)) return false
  }
  return true
}

function areEqualMembers(
  left: JsonObject,
  right: JsonObject,
  node: DiffRuleNode | undefined,
  settings: EqualitySettings,
  depth: number,
): boolean {
  for (const key in left) {
    const one = left[key]
    const other = right[key]
    if (one === other && one !== undefined && key !== '__proto__') continue
    const below = node?.child(key)
    if (below?.ignored === true) continue
    if (!hasOwnMember(right, key, other) || !isEqual(one, other, below, settings, depth)) return false
  }
  for (const key in right) {
    if (!hasOwnMember(left, key, left[key]) && node?.child(key)?.ignored !== true) return false
  }
  return true
}

function sameNumber(expected: unknown, actual: unknown): boolean {
  return (
    expected instanceof ExactNumber && actual instanceof ExactNumber && expected.spelling === actual.spelling
  )
}

/** Compares only types and members. Values and the lengths of lists may differ. */
export class StructureComparison {
  readonly differences: Difference[] = []
  readonly #path: (string | number)[] = []

  compare(expected: unknown, actual: unknown, node: DiffRuleNode | undefined): void {
    if (node?.ignored === true || this.#path.length > DEEPEST_COMPARED) return
    if (jsonTypeOf(expected) !== jsonTypeOf(actual)) return this.#note({ kind: 'type', expected, actual })
    if (Array.isArray(expected) && Array.isArray(actual)) return this.#items(expected, actual, node)
    if (isObject(expected) && isObject(actual)) return this.#members(expected, actual, node)
    if (typeof expected !== 'string' || typeof actual !== 'string') return
    if (expected === actual) return
    const parsed = parseTextPair(expected, actual)
    if (parsed.kind === 'parsed') this.compare(parsed.expected, parsed.actual, node)
    else if (parsed.kind === 'lost' && parsed.format.isDistinctive === true)
      this.#note({ kind: 'format', expected, actual, format: parsed.format })
  }

  // The items of an empty list are unknown. Additional items are compared with the last expected one.
  #items(expected: readonly unknown[], actual: readonly unknown[], node: DiffRuleNode | undefined): void {
    if (expected.length === 0) return
    for (const [place, item] of actual.entries()) {
      this.#path.push(place)
      this.compare(expected[Math.min(place, expected.length - 1)], item, node?.child(place))
      this.#path.pop()
    }
  }

  #members(expected: JsonObject, actual: JsonObject, node: DiffRuleNode | undefined): void {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      this.#path.push(key)
      this.#member(expected, actual, key, node?.child(key))
      this.#path.pop()
    }
  }

  #member(expected: JsonObject, actual: JsonObject, key: string, node: DiffRuleNode | undefined): void {
    if (node?.ignored === true) return
    if (!Object.hasOwn(actual, key)) this.#note({ kind: 'removed', expected: expected[key] })
    else if (!Object.hasOwn(expected, key)) this.#note({ kind: 'added', actual: actual[key] })
    else this.compare(expected[key], actual[key], node)
  }

  #note(difference: Omit<Difference, 'path'>): void {
    this.differences.push({ path: this.#path.slice(), ...difference })
  }
}

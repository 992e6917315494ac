import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../protocol/message.ts'
import { alignLists } from './align.ts'
import { ExactNumber, jsonTypeOf, type Difference } from './difference.ts'
import { DEEPEST_COMPARED, hasOwnMember, isEqual, type EqualitySettings } from './equal.ts'
import { parseJsonPair } from './json-text.ts'
import type { DiffRuleNode } from './rules.ts'

export interface CompareSettings extends EqualitySettings {
  readonly order: 'kept' | 'free'
}

/** Walks two values side by side and notes where they part. The path is written down only where they do. */
export class ValueComparison {
  readonly differences: Difference[] = []
  readonly #settings: CompareSettings
  readonly #path: (string | number)[] = []

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
    for (const key in expected) {
      const one = expected[key]
      const other = actual[key]
      if (one === other && one !== undefined && key !== '__proto__') continue
      this.#path.push(key)
      if (hasOwnMember(actual, key, other)) this.compare(one, other, node?.child(key))
      else this.#addedOrRemoved('removed', one, node?.child(key))
      this.#path.pop()
    }
    for (const key in actual) {
      if (hasOwnMember(expected, key, expected[key])) continue
      this.#path.push(key)
      this.#addedOrRemoved('added', actual[key], node?.child(key))
      this.#path.pop()
    }
  }

  /** Equal beginnings and ends are passed over, so that one changed item costs no search for its like. */
  #arrays(expected: readonly unknown[], actual: readonly unknown[], node: DiffRuleNode | undefined): void {
    if (this.#isTooDeep(expected, actual)) return
    const same = (left: number, right: number): boolean =>
      isEqual(expected[left], actual[right], node?.child(left), this.#settings, this.#path.length)
    const shortest = Math.min(expected.length, actual.length)
    const limit = expected.length === actual.length ? shortest - 1 : shortest // a last one is compared at once
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
    const { pairs, removed, added } = alignLists({
      expected: expected.items.slice(expected.start, expected.end),
      actual: actual.items.slice(actual.start, actual.end),
      order: node?.order ?? this.#settings.order,
    })
    for (const pair of pairs) this.#pair(expected, actual, pair, node)
    for (const place of removed) this.#addedOrRemovedItem('removed', expected, place, node)
    for (const place of added) this.#addedOrRemovedItem('added', actual, place, node)
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
    node: DiffRuleNode | undefined,
  ): void {
    this.#path.push(start + at)
    this.#addedOrRemoved(kind, items[start + at], node?.child(start + at))
    this.#path.pop()
  }

  #scalars(expected: unknown, actual: unknown, node: DiffRuleNode | undefined): void {
    if (isEqual(expected, actual, node, this.#settings)) return
    const inside =
      typeof expected === 'string' && typeof actual === 'string' ? parseJsonPair(expected, actual) : undefined
    if (inside !== undefined) return this.compare(inside.expected, inside.actual, node)
    const kind = jsonTypeOf(expected) === jsonTypeOf(actual) ? 'changed' : 'type'
    this.#note({ kind, expected, actual })
  }

  #addedOrRemoved(kind: 'added' | 'removed', value: unknown, node: DiffRuleNode | undefined): void {
    if (node?.ignored === true) return
    this.#note(kind === 'added' ? { kind, actual: value } : { kind, expected: value })
  }

  #isTooDeep(expected: unknown, actual: unknown): boolean {
    if (this.#path.length <= DEEPEST_COMPARED) return false
    if (canonicalJson(expected) !== canonicalJson(actual)) this.#note({ kind: 'changed', expected, actual })
    return true
  }

  #note(difference: Omit<Difference, 'path'>): void {
    this.differences.push({ path: this.#path.slice(), ...difference })
  }
}

/** A stretch of a list. */
interface ListSlice {
  readonly items: readonly unknown[]
  readonly start: number
  readonly end: number
}

function isPlainObject(value: unknown): value is JsonObject {
  return isObject(value) && !(value instanceof ExactNumber)
}

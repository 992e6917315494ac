import { isObject, type JsonObject } from '../protocol/message.ts'
import { jsonTypeOf, type Difference } from './difference.ts'
import { DEEPEST_COMPARED } from './equal.ts'
import { parseJsonPair } from './json-text.ts'
import type { DiffRuleNode } from './rules.ts'

/** Compares types and members only: values and the lengths of lists are free. */
export class StructureComparison {
  readonly differences: Difference[] = []
  readonly #path: (string | number)[] = []

  compare(expected: unknown, actual: unknown, node: DiffRuleNode | undefined): void {
    if (node?.ignored === true || this.#path.length > DEEPEST_COMPARED) return
    if (jsonTypeOf(expected) !== jsonTypeOf(actual)) return this.#note({ kind: 'type', expected, actual })
    if (Array.isArray(expected) && Array.isArray(actual)) return this.#items(expected, actual, node)
    if (isObject(expected) && isObject(actual)) return this.#members(expected, actual, node)
    if (typeof expected !== 'string' || typeof actual !== 'string') return
    const inside = parseJsonPair(expected, actual)
    if (inside !== undefined) this.compare(inside.expected, inside.actual, node)
  }

  // Of a list that was empty nothing is known; a longer list is held to the items that there were.
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

import { isObject, type JsonObject } from '../protocol/message.ts'
import { ExactNumber } from './difference.ts'
import { parseJsonPair } from './json-text.ts'
import type { DiffRuleNode } from './rules.ts'

/** How values are compared: what holds everywhere, beside the rules of a place. */
export interface EqualitySettings {
  readonly relative: number
}

/** A hostile message nests deeper than any call stack: below this, values are compared by their text. */
export const DEEPEST_COMPARED = 100

/**
 * Whether two values are seen to be the same under the rules; where there are no rules, at the speed of a plain comparison.
 * It may miss what lies very deep, so a no is for a closer look.
 */
export function isEqual(
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

/** Whether two numbers are as near to each other as was asked for. */
function isWithinTolerance(expected: number, actual: number, relative: number): boolean {
  return Math.abs(expected - actual) <= relative * Math.max(Math.abs(expected), Math.abs(actual))
}

/** Whether a member is an object's own; only names that every object inherits need the question. */
export function hasOwnMember(object: object, key: string, value: unknown): boolean {
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

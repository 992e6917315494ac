import { isObject, type JsonObject } from '../protocol/message.ts'
import { commonAffixLength } from '../wire/shared-ends.ts'
import { jsonTypeOf } from './difference.ts'

/** How much two items have in common, from 0 to 1; a look at their surface is enough to pair them. */
export function similarityOf(expected: unknown, actual: unknown): number {
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

import { isObject, member, type JsonObject } from '../wire/message.ts'
import { decodeBase64 } from './base64.ts'
import type { Said } from './messages.ts'
import { CLIENTS_OWN, META, RELATED_TASK } from './uses.ts'
import { jsonIn, valuesIn } from './values.ts'
import { hashOf, hasSpace, visitHashes, type Visit } from './word-hashes.ts'

/**
 * Visits the runs of letters and digits in the values of a message, by their hashes: whatever can be bound is made of such
 * words. True when no text holds JSON or base64, so that what stands in the message is all that it says.
 */
export function eachWord(said: Said, visit: Visit): boolean {
  const isPlain = isPlainlySaid(said, visit)
  if (!isPlain) for (const { text } of valuesIn(said.spoken.text)) visitHashes(text, visit)
  return isPlain
}

/** Looks at the parts of a message that may hold what a server makes up, or what a client sends back. */
function isPlainlySaid({ spoken: { message, dir }, method }: Said, visit: Visit): boolean {
  if (message.kind === 'invalid') return true
  if (message.kind === 'response') {
    const { outcome } = message
    return visitWords('result' in outcome ? outcome.result : outcome.error, visit, 0)
  }
  const { params } = message
  if (dir === 's2c' || !isObject(params) || hasRounds(params)) return visitWords(params, visit, 0)
  const own = CLIENTS_OWN[method] ?? []
  for (const name of Object.keys(params)) {
    const isSent = name !== META && !own.includes(name)
    if (isSent && !visitWords(params[name], visit, 0)) return false
  }
  return visitWords(member(params[META], RELATED_TASK), visit, 0)
}

const DEEPEST = 64

/** False when it takes a closer look: texts inside of texts, numbers whose spelling is lost, names that are values. */
function visitWords(value: unknown, visit: Visit, depth: number): boolean {
  if (typeof value === 'string') return visitText(value, visit)
  if (typeof value === 'number') return visitNumber(value, visit)
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEEPEST) return false
  return isObject(value) ? visitMembers(value, visit, depth + 1) : visitItems(value, visit, depth + 1)
}

function visitMembers(value: JsonObject, visit: Visit, depth: number): boolean {
  for (const name of Object.keys(value))
    if (isRound(name) || !visitWords(value[name], visit, depth)) return false
  return true
}

function visitItems(value: object, visit: Visit, depth: number): boolean {
  for (const inner of Array.isArray(value) ? value : []) if (!visitWords(inner, visit, depth)) return false
  return true
}

function isRound(name: string): boolean {
  return name === 'inputRequests' || name === 'inputResponses'
}

function hasRounds(value: object): boolean {
  return 'inputRequests' in value || 'inputResponses' in value
}

function visitText(text: string, visit: Visit): boolean {
  const isProse = hasSpace(text)
  if (jsonIn(text) !== undefined || (!isProse && decodeBase64(text) !== undefined)) return false
  visitHashes(text, visit, isProse)
  return true
}

function visitNumber(value: number, visit: Visit): boolean {
  visit(hashOf(String(Math.abs(value))))
  return Number.isSafeInteger(value)
}

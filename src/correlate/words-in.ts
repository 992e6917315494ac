import { isObject, member, type JsonObject } from '../wire/message.ts'
import { decodeBase64 } from './base64.ts'
import type { Hashes } from './hashes.ts'
import type { Said } from './messages.ts'
import { CLIENTS_OWN, META, RELATED_TASK } from './uses.ts'
import { jsonIn, valuesIn } from './values.ts'
import { hashOfNumber, hasSpace, listHashes } from './word-hashes.ts'

/**
 * Lists the runs of letters and digits in the values of a message, by their hashes: whatever can be bound is made of such
 * words. True when no text holds JSON or base64, so that what stands in the message is all that it says.
 */
export function listWords(said: Said, into: Hashes): boolean {
  into.clear()
  const isPlain = isPlainlySaid(said, into)
  if (!isPlain) for (const { text } of valuesIn(said.spoken.text)) listHashes(text, into)
  return isPlain
}

/** Looks at the parts of a message that may hold what a server makes up, or what a client sends back. */
function isPlainlySaid({ spoken: { message, dir }, method }: Said, into: Hashes): boolean {
  if (message.kind === 'invalid') return true
  if (message.kind === 'response') {
    const { outcome } = message
    return listInner('result' in outcome ? outcome.result : outcome.error, into, 0)
  }
  const { params } = message
  if (dir === 's2c' || !isObject(params) || hasRounds(params)) return listInner(params, into, 0)
  const own = CLIENTS_OWN[method] ?? NONE
  for (const name in params) {
    const isSent = name !== META && !own.includes(name)
    if (isSent && !listInner(params[name], into, 0)) return false
  }
  return listInner(member(params[META], RELATED_TASK), into, 0)
}

const NONE: readonly string[] = []
const DEEPEST = 64

/** False when it takes a closer look: texts inside of texts, numbers whose spelling is lost, names that are values. */
function listInner(value: unknown, into: Hashes, depth: number): boolean {
  if (typeof value === 'string') return listText(value, into)
  if (typeof value === 'number') return listNumber(value, into)
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEEPEST) return false
  return isObject(value) ? listMembers(value, into, depth + 1) : listItems(value, into, depth + 1)
}

function listMembers(value: JsonObject, into: Hashes, depth: number): boolean {
  for (const name in value)
    // what was parsed has no other names, and a list of them takes longer than the look
    if (isRound(name) || !listInner(value[name], into, depth)) return false
  return true
}

function listItems(value: object, into: Hashes, depth: number): boolean {
  if (!Array.isArray(value)) return true
  for (const inner of value) if (!listInner(inner, into, depth)) return false
  return true
}

function isRound(name: string): boolean {
  return name === 'inputRequests' || name === 'inputResponses'
}

function hasRounds(value: object): boolean {
  return 'inputRequests' in value || 'inputResponses' in value
}

function listText(text: string, into: Hashes): boolean {
  const isProse = hasSpace(text)
  if (jsonIn(text) !== undefined || (!isProse && decodeBase64(text) !== undefined)) return false
  into.hasDate ||= text.includes('-') && DATE.test(text)
  listHashes(text, into, isProse)
  return true
}

const DATE = /\d{4}-\d\d-\d\d/

function listNumber(value: number, into: Hashes): boolean {
  into.add(hashOfNumber(Math.abs(value)))
  return Number.isSafeInteger(value)
}

import { isObject, member, type JsonObject } from '../../protocol/message.ts'
import { decodeBase64Text } from '../../correlate/base64.ts'
import type { WordHashList } from '../../correlate/hashes.ts'
import type { TurnMessage } from '../tape-messages.ts'
import { CLIENT_OWNED_PARAMS, META_MEMBER, RELATED_TASK_META } from './consumer-candidates.ts'
import { embeddedJson, messageValues } from '../values.ts'
import { numberWordHash, containsSpace, collectTextHashes } from '../../correlate/word-hashes.ts'

/**
 * Lists the runs of letters and digits in the values of a message, by their hashes: whatever can be bound is made of such
 * words. True when no text holds JSON or base64, so that what stands in the message is all that it says.
 */
export function collectMessageHashes(said: TurnMessage, into: WordHashList): boolean {
  into.clear()
  const isPlain = collectParsedMessage(said, into)
  if (!isPlain) for (const { text } of messageValues(said.spoken.text)) collectTextHashes(text, into)
  return isPlain
}

/** Looks at the parts of a message that may hold what a server makes up, or what a client sends back. */
function collectParsedMessage(
  { spoken: { message, dir }, method }: TurnMessage,
  into: WordHashList,
): boolean {
  if (message.kind === 'invalid') return true
  if (message.kind === 'response') {
    const { outcome } = message
    return collectValueHashes('result' in outcome ? outcome.result : outcome.error, into, 0)
  }
  const { params } = message
  if (dir === 's2c' || !isObject(params) || hasInputRound(params)) return collectValueHashes(params, into, 0)
  const own = CLIENT_OWNED_PARAMS[method] ?? NONE
  for (const name in params) {
    const isSent = name !== META_MEMBER && !own.includes(name)
    if (isSent && !collectValueHashes(params[name], into, 0)) return false
  }
  return collectValueHashes(member(params[META_MEMBER], RELATED_TASK_META), into, 0)
}

const NONE: readonly string[] = []
const DEEPEST = 64

/** False when it takes a closer look: texts inside of texts, numbers whose spelling is lost, names that are values. */
function collectValueHashes(value: unknown, into: WordHashList, depth: number): boolean {
  if (typeof value === 'string') return collectText(value, into)
  if (typeof value === 'number') return collectNumber(value, into)
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEEPEST) return false
  return isObject(value) ? collectMembers(value, into, depth + 1) : collectItems(value, into, depth + 1)
}

function collectMembers(value: JsonObject, into: WordHashList, depth: number): boolean {
  for (const name in value)
    // what was parsed has no other names, and a list of them takes longer than the look
    if (isInputRoundName(name) || !collectValueHashes(value[name], into, depth)) return false
  return true
}

function collectItems(value: object, into: WordHashList, depth: number): boolean {
  if (!Array.isArray(value)) return true
  for (const inner of value) if (!collectValueHashes(inner, into, depth)) return false
  return true
}

function isInputRoundName(name: string): boolean {
  return name === 'inputRequests' || name === 'inputResponses'
}

function hasInputRound(value: object): boolean {
  return 'inputRequests' in value || 'inputResponses' in value
}

function collectText(text: string, into: WordHashList): boolean {
  const isProse = containsSpace(text)
  if (embeddedJson(text) !== undefined || (!isProse && decodeBase64Text(text) !== undefined)) return false
  into.hasDate ||= text.includes('-') && DATE.test(text)
  collectTextHashes(text, into, isProse)
  return true
}

const DATE = /\d{4}-\d\d-\d\d/

function collectNumber(value: number, into: WordHashList): boolean {
  into.add(numberWordHash(Math.abs(value)))
  return Number.isSafeInteger(value)
}

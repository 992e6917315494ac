import { isObject, member } from '../wire/message.ts'
import { decodeBase64 } from './base64.ts'
import type { TapeMessage } from './messages.ts'
import { CLIENTS_OWN, META, RELATED_TASK } from './uses.ts'
import { jsonIn, valuesIn } from './values.ts'

type Visit = (word: string) => void

/**
 * Visits the runs of letters and digits in the values of a message: whatever can be bound is made of such words. True when no
 * text holds JSON or base64, so that what stands in the message is all that it says.
 */
export function eachWord(message: TapeMessage, visit: Visit): boolean {
  const isPlain = rootsOf(message).every((root) => visitWords(root, visit, 0))
  if (!isPlain) for (const { text } of valuesIn(message.spoken.text)) visitRuns(text, visit)
  return isPlain
}

/** The parts of a message that may hold what a server makes up, or what a client sends back. */
function rootsOf({ spoken: { message, dir }, method }: TapeMessage): readonly unknown[] {
  if (message.kind === 'invalid') return []
  if (message.kind === 'response') return Object.values(message.outcome)
  const { params } = message
  if (dir === 's2c' || !isObject(params) || hasRounds(params)) return [params]
  const own = CLIENTS_OWN[method] ?? []
  const sent = Object.keys(params).filter((name) => name !== META && !own.includes(name))
  return [...sent.map((name) => params[name]), member(params[META], RELATED_TASK)]
}

const DEEPEST = 64

/** False when it takes a closer look: texts inside of texts, numbers whose spelling is lost, names that are values. */
function visitWords(value: unknown, visit: Visit, depth: number): boolean {
  if (typeof value === 'string') return visitText(value, visit)
  if (typeof value === 'number') return visitNumber(value, visit)
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEEPEST || hasRounds(value)) return false
  for (const inner of Object.values(value)) if (!visitWords(inner, visit, depth + 1)) return false
  return true
}

function hasRounds(value: object): boolean {
  return 'inputRequests' in value || 'inputResponses' in value
}

function visitText(text: string, visit: Visit): boolean {
  if (jsonIn(text) !== undefined || decodeBase64(text) !== undefined) return false
  visitRuns(text, visit)
  return true
}

function visitNumber(value: number, visit: Visit): boolean {
  visit(String(Math.abs(value)))
  return Number.isSafeInteger(value)
}

function visitRuns(text: string, visit: Visit): void {
  const runs = text.match(/[\p{L}\p{N}]+/gu)
  if (runs === null) visit(text)
  else for (const run of runs) visit(run)
}

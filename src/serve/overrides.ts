import { formatPath, parsePath } from '../wire/path.ts'
import { replaceAt } from '../wire/members.ts'
import { isObject } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { readError } from './faults/error.ts'
import type { Answer, RpcError } from './own-answer.ts'
import { isSelected, type Call, type RequestSelector } from './request-selector.ts'
import { withValueAt } from './set-value.ts'
import {
  entriesOf,
  inProgram,
  invalid,
  requireKnown,
  selectorOf,
  type Entry,
  type Place,
} from './settings.ts'

/** An answer of your own, which comes before everything on the tape. */
export interface Override extends RequestSelector {
  readonly result?: unknown
  readonly error?: RpcError
  /** Values to put into the recorded answer, by their path: `{ 'result.isError': true }`. */
  readonly set?: Readonly<Record<string, unknown>>
  /** Makes the result; what it throws becomes an error of the server. */
  readonly answer?: (call: Call) => unknown
}

/** Reads overrides from a file or a program; only a program can have `answer`. */
export function readOverrides(value: unknown, place: Place = inProgram): readonly Override[] {
  return entriesOf(value, 'overrides', place).map(readOverride)
}

/** The first override that is meant for a request. */
export function overrideFor(overrides: readonly Override[], call: Call): Override | undefined {
  return overrides.find((override) => isSelected(override, call))
}

/** The answer that needs no tape; undefined when the recorded one is only changed. */
export function ownAnswerOf({ result, error, answer }: Override, call: Call): Answer | undefined {
  if (error !== undefined) return { error }
  if (answer !== undefined) return answerOf(answer, call)
  return result === undefined ? undefined : { result }
}

/** The recorded answer with the values of `set` in it; `id` is the live id, as JSON, which keeps its spelling. */
export function changedAnswer({ set = {} }: Override, text: string, id: string): string {
  let value = parseJson(text)
  for (const [path, part] of Object.entries(set)) value = withValueAt(value, parsePath(path), part)
  return replaceAt(JSON.stringify(value), ['id'], id)
}

function answerOf(answer: NonNullable<Override['answer']>, call: Call): Answer {
  try {
    const result = answer(call)
    if (!(result instanceof Promise)) return { result }
    return {
      error: { code: INTERNAL_ERROR, message: 'the override gave a promise, which cannot be waited for' },
    }
  } catch (thrown) {
    const error = readError(thrown) ?? { code: INTERNAL_ERROR, message: messageOf(thrown) }
    return { error }
  }
}

const INTERNAL_ERROR = -32603

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const KINDS = ['result', 'error', 'set', 'answer']

function readOverride(setting: Entry): Override {
  const { entry, at } = setting
  requireKnown(setting, ['method', 'tool', 'params', ...KINDS])
  if (KINDS.filter((kind) => entry[kind] !== undefined).length !== 1)
    throw invalid(at, 'an override has one of result, error and set')
  const selector = selectorOf(setting)
  if (entry['error'] !== undefined) return { ...selector, error: errorIn(entry['error'], at) }
  if (entry['set'] !== undefined) return { ...selector, set: setIn(entry['set'], at) }
  const { answer } = entry
  if (isAnswer(answer)) return { ...selector, answer }
  if (answer !== undefined) throw invalid(at, '"answer" is no function', 'a file has result, error or set')
  return { ...selector, result: entry['result'] }
}

function errorIn(value: unknown, at: string): RpcError {
  const error = readError(value)
  if (error === undefined)
    throw invalid(at, '"error" is no JSON-RPC error', 'it takes code, message and data')
  return error
}

function setIn(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw invalid(at, '"set" is no object', 'write set: { "result.isError": true }')
  for (const path of Object.keys(value)) requireInAnswer(path, at)
  return value
}

function requireInAnswer(path: string, at: string): void {
  const [first] = parsePath(path)
  if (first !== 'result' && first !== 'error')
    throw invalid(at, `${formatPath(parsePath(path))} is no path in an answer`, 'begin it with result')
}

function isAnswer(value: unknown): value is NonNullable<Override['answer']> {
  return typeof value === 'function'
}

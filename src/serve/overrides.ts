import { replaceValue } from '../json/find-replace.ts'
import { parseJson, isObject } from '../json/parse.ts'
import { formatPath, parsePath, EVERY_ITEM, type PathPattern } from '../json/path.ts'
import { INTERNAL_ERROR, parseRpcError, type ResponsePayload, type RpcError } from '../protocol/message.ts'
import {
  type MethodCall,
  type RequestSelector,
  parseSelector,
  invalidSetting,
  locateInProgram,
  readEntries,
  requireKnownKeys,
  type EntryLocator,
  type RuleEntry,
} from '../faults/request-rules.ts'

/** A response that replaces or changes the recorded one. Overrides come before everything on the tape. */
export interface Override extends RequestSelector {
  readonly result?: unknown
  readonly error?: RpcError
  /** Values to set in the recorded response, by path: `{ 'result.isError': true }`. */
  readonly set?: Readonly<Record<string, unknown>>
  /** Returns the result. If it throws, the client gets an error response. */
  readonly answer?: (call: MethodCall) => unknown
}

/** Parses overrides from a file or a program. Only a program can have `answer`. */
export function parseOverrides(value: unknown, locate: EntryLocator = locateInProgram): readonly Override[] {
  return readEntries(value, 'overrides', locate).map(parseOverride)
}

/** Returns the response of an override, or `undefined` if it only changes the recorded one. */
export function overrideResponse(
  { result, error, answer }: Override,
  call: MethodCall,
): ResponsePayload | undefined {
  if (error !== undefined) return { error }
  if (answer !== undefined) return callOverride(answer, call)
  return result === undefined ? undefined : { result }
}

/** Returns the recorded response with the values of `set`. `id` is the live id as JSON; its bytes are kept. */
export function patchedAnswer({ set = {} }: Override, text: string, id: string): string {
  let value = parseJson(text)
  for (const [path, part] of Object.entries(set)) value = withValueAt(value, parsePath(path), part)
  return replaceValue(JSON.stringify(value), ['id'], id)
}

function callOverride(answer: NonNullable<Override['answer']>, call: MethodCall): ResponsePayload {
  try {
    const result = answer(call)
    if (!(result instanceof Promise)) return { result }
    return {
      error: { code: INTERNAL_ERROR, message: 'the override returned a promise, which is not supported' },
    }
  } catch (thrown) {
    const error = parseRpcError(thrown) ?? { code: INTERNAL_ERROR, message: thrownMessage(thrown) }
    return { error }
  }
}

function thrownMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const OVERRIDE_KINDS = ['result', 'error', 'set', 'answer']

function parseOverride(setting: RuleEntry): Override {
  const { entry, at } = setting
  requireKnownKeys(setting, ['method', 'tool', 'params', ...OVERRIDE_KINDS])
  if (OVERRIDE_KINDS.filter((kind) => entry[kind] !== undefined).length !== 1)
    throw invalidSetting(at, 'an override needs exactly one of result, error and set')
  const selector = parseSelector(setting)
  if (entry['error'] !== undefined) return { ...selector, error: parseOverrideError(entry['error'], at) }
  if (entry['set'] !== undefined) return { ...selector, set: parseSetPaths(entry['set'], at) }
  const { answer } = entry
  if (isAnswerFunction(answer)) return { ...selector, answer }
  if (answer !== undefined)
    throw invalidSetting(at, '"answer" is not a function', 'use result, error or set in a file')
  return { ...selector, result: entry['result'] }
}

function parseOverrideError(value: unknown, at: string): RpcError {
  const error = parseRpcError(value)
  if (error === undefined)
    throw invalidSetting(at, '"error" is not a JSON-RPC error', 'it takes code, message and optionally data')
  return error
}

function parseSetPaths(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (!isObject(value))
    throw invalidSetting(at, '"set" is not an object', 'write set: { "result.isError": true }')
  for (const path of Object.keys(value)) requireAnswerPath(path, at)
  return value
}

function requireAnswerPath(path: string, at: string): void {
  const [first] = parsePath(path)
  if (first !== 'result' && first !== 'error')
    throw invalidSetting(
      at,
      `${formatPath(parsePath(path))} is not a path in a response`,
      'start it with "result" or "error"',
    )
}

function isAnswerFunction(value: unknown): value is NonNullable<Override['answer']> {
  return typeof value === 'function'
}

/** Returns a copy with another value at a path. Missing members on the way are created. */
function withValueAt(value: unknown, [first, ...rest]: PathPattern, part: unknown): unknown {
  if (first === undefined) return part
  if (first === EVERY_ITEM || typeof first === 'number') {
    if (!Array.isArray(value)) return value
    const items: readonly unknown[] = value
    return items.map((item, place) =>
      first === EVERY_ITEM || first === place ? withValueAt(item, rest, part) : item,
    )
  }
  const members = isObject(value) ? Object.entries(value) : []
  const inside = isObject(value) && Object.hasOwn(value, first) ? value[first] : undefined
  return Object.fromEntries([...members, [first, withValueAt(inside, rest, part)]])
}

import { ReelayError } from '../../errors.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { calledTool } from '../../match/describe-request.ts'
import { isObject, type Request, type JsonObject } from '../../protocol/message.ts'

/** Which live requests are meant; what is not said may be anything. */
export interface RequestSelector {
  readonly method?: string
  readonly tool?: string
  /** What the params hold among others. */
  readonly params?: unknown
}

export type MethodCall = Pick<Request, 'method' | 'params'>

export function matchesSelector({ method, tool, params }: RequestSelector, call: MethodCall): boolean {
  if (method !== undefined && method !== call.method) return false
  if (tool !== undefined && tool !== calledTool(call)) return false
  return params === undefined || containsValue(call.params, params)
}

/** The selector in words: `call of search with {"limit":10}`. */
export function describeSelector({ method, tool, params }: RequestSelector): string {
  const called = tool === undefined ? undefined : `call of ${tool}`
  const held = params === undefined ? undefined : `with ${canonicalJson(params)}`
  return [called ?? method ?? 'request', held].filter((word) => word !== undefined).join(' ')
}

/** Whether a value has everything that is asked of it; an array has to be of the same length. */
function containsValue(value: unknown, part: unknown): boolean {
  if (Array.isArray(part))
    return (
      Array.isArray(value) &&
      value.length === part.length &&
      part.every((item, place) => containsValue(value[place], item))
    )
  if (!isObject(part)) return canonicalJson(value) === canonicalJson(part)
  return (
    isObject(value) &&
    Object.keys(part).every((name) => Object.hasOwn(value, name) && containsValue(value[name], part[name]))
  )
}

/** Where a setting stands, for a complaint about it: `faults.yaml:4:5`, or `faults[1]`. */
export type EntryLocator = (path: readonly (string | number)[]) => string

/** A setting of a program stands at its path. */
export const locateInProgram: EntryLocator = (path) =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : depth === 0 ? step : `.${step}`))
    .join('')

/** The entries of the list with that name, each with what may be said of it; a file may be nothing but the list. */
export function readEntries(value: unknown, name: string, place: EntryLocator): readonly RuleEntry[] {
  const list = isObject(value) ? value[name] : value
  const at = (index: number): string => place(isObject(value) ? [name, index] : [index])
  if (!Array.isArray(list))
    throw invalidSetting(place([]), `there is no list of ${name}`, `begin it with ${name}:`)
  return list.map((entry: unknown, index) => {
    if (!isObject(entry)) throw invalidSetting(at(index), 'this entry is no object', 'write key: value')
    return { entry, at: at(index) }
  })
}

export interface RuleEntry {
  readonly entry: JsonObject
  readonly at: string
}

/** Which requests an entry is about. */
export function parseSelector({ entry, at }: RuleEntry): RequestSelector {
  const { method, tool, params } = entry
  if (method !== undefined && typeof method !== 'string') throw invalidSetting(at, '"method" is not a string')
  if (tool !== undefined && typeof tool !== 'string') throw invalidSetting(at, '"tool" is not a string')
  return {
    ...(method !== undefined && { method }),
    ...(tool !== undefined && { tool }),
    ...(params !== undefined && { params }),
  }
}

/** Refuses what is misspelled. */
export function requireKnownKeys({ entry, at }: RuleEntry, known: readonly string[]): void {
  const odd = Object.keys(entry).find((key) => !known.includes(key))
  if (odd !== undefined)
    throw invalidSetting(at, `${JSON.stringify(odd)} means nothing here`, `it may be ${known.join(', ')}`)
}

export function invalidSetting(at: string, why: string, hint?: string): ReelayError {
  return new ReelayError('SETTINGS_INVALID', `${at}: ${why}`, hint === undefined ? {} : { hint })
}

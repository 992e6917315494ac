import { canonicalJson } from '../json/canonical.ts'
import { calledTool, type Request } from '../protocol/message.ts'
import { isObject } from '../json/parse.ts'
import { invalidSetting, type RuleEntry } from './rule-file.ts'

/** Selects requests. Members that are not set match every request. */
export interface RequestSelector {
  readonly method?: string
  readonly tool?: string
  /** Values that the params must contain; the request may have more. */
  readonly params?: unknown
}

export type MethodCall = Pick<Request, 'method' | 'params'>

export function matchesSelector({ method, tool, params }: RequestSelector, call: MethodCall): boolean {
  if (method !== undefined && method !== call.method) return false
  if (tool !== undefined && tool !== calledTool(call)) return false
  return params === undefined || containsValue(call.params, params)
}

/** Describes a selector: `call of search with {"limit":10}`. */
export function describeSelector({ method, tool, params }: RequestSelector): string {
  const subject = tool === undefined ? (method ?? 'request') : `call of ${tool}`
  return params === undefined ? subject : `${subject} with ${canonicalJson(params)}`
}

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

/** Objects may have further members; arrays must have the same length. */
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

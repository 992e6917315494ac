import { calledTool } from '../../match/describe-request.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { isObject, type Request } from '../../protocol/message.ts'

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

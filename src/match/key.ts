import { canonicalJson } from '../wire/canonical.ts'
import { isObject, member, type JsonObject } from '../wire/message.ts'
import { HANDSHAKE_METHODS, isEnveloped, META } from '../wire/methods.ts'
import type { Era } from '../wire/era.ts'
import type { Path } from '../wire/path.ts'
import { withGuarded } from './guard.ts'
import { parseRequestPath } from './request-path.ts'
import { without } from './without.ts'

/** A request, or a notification, as far as matching looks at it. */
export interface Asked {
  readonly server: string
  readonly method: string
  readonly params?: unknown
}

/** Equal for requests that the same recorded answer serves: server, method, era and canonical params; never the id. */
export function requestKey(asked: Asked, ignore: readonly Path[] = []): string {
  return canonicalJson([asked.server, asked.method, eraAsked(asked), comparedParams(asked, ignore)])
}

/** The params as they are compared: without what the protocol itself puts in `_meta` and without the ignored paths. */
export function comparedParams(
  { method, params }: Pick<Asked, 'method' | 'params'>,
  ignore: readonly Path[] = [],
): unknown {
  if (isKnownByMethod(method)) return undefined
  const rest = ignore.length === 0 ? params : withoutIgnored(params, ignore)
  const own = isObject(rest) ? withoutProtocolMeta(isTaskQuery(method) ? withoutTask(rest) : rest) : rest
  return isEmpty(own) ? undefined : own
}

/** The params without the ignored paths; what the user agreed to is never left out. */
export function withoutIgnored(params: unknown, ignore: readonly Path[]): unknown {
  return withGuarded(member(without({ params }, ignore), 'params'), params)
}

/** The era whose form a request has: a modern one carries its protocol version. Requests known by method alone have none. */
export function eraAsked({ method, params }: Asked): Era | undefined {
  return eraOfCall(method, isEnveloped(params))
}

export function eraOfCall(method: string, enveloped: boolean): Era | undefined {
  if (isKnownByMethod(method) || method.startsWith('notifications/')) return undefined
  return enveloped ? 'modern' : 'legacy'
}

/** The paths of `--ignore`: they start at the request, so the first name is `params`. */
export function parseIgnored(texts: readonly string[]): readonly Path[] {
  return texts.map(parseRequestPath)
}

// A cancellation names a live id, which no recording can know.
function isKnownByMethod(method: string): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'notifications/cancelled'
}

/** Whether a request asks about a task by its id. SDK v1 repeats in some of them, and not in others, what it asked of the call. */
export function isTaskQuery(method: string): boolean {
  return TASK_QUERIES.has(method)
}

const TASK_QUERIES: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel'])

function withoutTask(params: JsonObject): JsonObject {
  const { task: _, ...rest } = params
  return rest
}

function withoutProtocolMeta(params: JsonObject): JsonObject {
  const meta = member(params, '_meta')
  if (!isObject(meta)) return params
  const { _meta, ...rest } = params
  const own = Object.entries(meta).filter(([name]) => !isProtocolMeta(name))
  return own.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(own) }
}

const PROTOCOL_META: ReadonlySet<string> = new Set([
  META.progressToken,
  'traceparent',
  'tracestate',
  'baggage',
])

function isProtocolMeta(name: string): boolean {
  return PROTOCOL_META.has(name) || name.startsWith('io.modelcontextprotocol/')
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}

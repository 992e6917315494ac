import { canonicalJson } from '../json/canonical.ts'
import { isObject, member, type JsonObject } from '../protocol/message.ts'
import { HANDSHAKE_METHODS, hasModernEnvelope, META_KEYS } from '../protocol/methods.ts'
import type { Era } from '../protocol/era.ts'
import type { PathPattern } from '../json/path.ts'
import { withConsentParams } from './guard.ts'
import { parseRequestPath } from './request-path.ts'
import { omitPaths } from './without.ts'

/** A request, or a notification, as far as matching looks at it. */
export interface RequestContent {
  readonly server: string
  readonly method: string
  readonly params?: unknown
}

/** Equal for requests that the same recorded answer serves: server, method, era and canonical params; never the id. */
export function requestKey(asked: RequestContent, ignore: readonly PathPattern[] = []): string {
  return canonicalJson([asked.server, asked.method, requestEra(asked), comparedParams(asked, ignore)])
}

/** The params as they are compared: without what the protocol itself puts in `_meta` and without the ignored paths. */
export function comparedParams(
  { method, params }: Pick<RequestContent, 'method' | 'params'>,
  ignore: readonly PathPattern[] = [],
): unknown {
  if (isMatchedByMethodAlone(method)) return undefined
  const rest = ignore.length === 0 ? params : omitIgnored(params, ignore)
  const own = isObject(rest) ? omitProtocolMeta(isTaskQuery(method) ? omitTask(rest) : rest) : rest
  return isEmptyObject(own) ? undefined : own
}

/** The params without the ignored paths; what the user agreed to is never left out. */
export function omitIgnored(params: unknown, ignore: readonly PathPattern[]): unknown {
  return withConsentParams(member(omitPaths({ params }, ignore), 'params'), params)
}

/** The era whose form a request has: a modern one carries its protocol version. Requests known by method alone have none. */
export function requestEra({ method, params }: RequestContent): Era | undefined {
  return eraOfRequest(method, hasModernEnvelope(params))
}

export function eraOfRequest(method: string, enveloped: boolean): Era | undefined {
  if (isMatchedByMethodAlone(method) || method.startsWith('notifications/')) return undefined
  return enveloped ? 'modern' : 'legacy'
}

/** The paths of `--ignore`: they start at the request, so the first name is `params`. */
export function parseIgnoredPaths(texts: readonly string[]): readonly PathPattern[] {
  return texts.map(parseRequestPath)
}

// A cancellation names a live id, which no recording can know.
function isMatchedByMethodAlone(method: string): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'notifications/cancelled'
}

/** Whether a request asks about a task by its id. SDK v1 repeats in some of them, and not in others, what it asked of the call. */
export function isTaskQuery(method: string): boolean {
  return TASK_QUERIES.has(method)
}

const TASK_QUERIES: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel'])

function omitTask(params: JsonObject): JsonObject {
  const { task: _, ...rest } = params
  return rest
}

function omitProtocolMeta(params: JsonObject): JsonObject {
  const meta = member(params, '_meta')
  if (!isObject(meta)) return params
  const { _meta, ...rest } = params
  const own = Object.entries(meta).filter(([name]) => !isProtocolMeta(name))
  return own.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(own) }
}

const PROTOCOL_META: ReadonlySet<string> = new Set([
  META_KEYS.progressToken,
  'traceparent',
  'tracestate',
  'baggage',
])

function isProtocolMeta(name: string): boolean {
  return PROTOCOL_META.has(name) || name.startsWith('io.modelcontextprotocol/')
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}

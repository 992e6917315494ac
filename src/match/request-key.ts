import { ReelayError } from '../errors.ts'
import { canonicalJson } from '../json/canonical.ts'
import { type PathPattern, parsePath, omitPaths } from '../json/path.ts'
import type { Era } from '../protocol/revisions/revision.ts'
import { eraOfForm, isOpeningMethod } from '../protocol/revisions/index.ts'
import { isObject, member, type JsonObject } from '../json/parse.ts'
import { hasEnvelope, META_KEYS } from '../protocol/message.ts'
import type { ClientCall } from '../tape/turns.ts'

/** Equal for requests that the same recorded answer serves: server, method, era and canonical params; never the id. */
export function requestKey(asked: ClientCall, ignore: readonly PathPattern[] = []): string {
  return canonicalJson([asked.server, asked.method, requestEra(asked), comparedParams(asked, ignore)])
}

/** The key function that leaves some paths out. Without paths it is `requestKey` itself, which an index on disk knows. */
export function requestKeyWithout(ignore: readonly PathPattern[]): (request: ClientCall) => string {
  return ignore.length === 0 ? requestKey : (request) => requestKey(request, ignore)
}

/** The params as they are compared: without what the protocol itself puts in `_meta` and without the ignored paths. */
export function comparedParams(
  { method, params }: Pick<ClientCall, 'method' | 'params'>,
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
export function requestEra({ method, params }: ClientCall): Era | undefined {
  return eraOfRequest(method, hasEnvelope(params))
}

export function eraOfRequest(method: string, enveloped: boolean): Era | undefined {
  if (isMatchedByMethodAlone(method) || method.startsWith('notifications/')) return undefined
  return eraOfForm(enveloped)
}

/** The paths of `--ignore`: they start at the request, so the first name is `params`. */
export function parseIgnoredPaths(texts: readonly string[]): readonly PathPattern[] {
  return texts.map(parseRequestPath)
}

// A cancellation names a live id, which no recording can know.
function isMatchedByMethodAlone(method: string): boolean {
  return isOpeningMethod(method) || method === 'notifications/cancelled'
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

/** What the user was asked and what they answered (2026-07-28, MRTR): compared exactly, whatever else is not. */
const CONSENT_PARAMS: readonly string[] = ['requestState', 'inputResponses']

/** The guarded members of a request's params, as one comparable value. */
export function consentParams(params: unknown): readonly unknown[] {
  return CONSENT_PARAMS.map((name) => member(params, name) ?? null)
}

/** Puts the guarded members back when a rule has taken away what held them. */
function withConsentParams(rest: unknown, params: unknown): unknown {
  const kept = CONSENT_PARAMS.filter(
    (name) => member(params, name) !== undefined && member(rest, name) === undefined,
  )
  if (kept.length === 0) return rest
  return {
    ...(isObject(rest) ? rest : {}),
    ...Object.fromEntries(kept.map((name) => [name, member(params, name)])),
  }
}

/** A path from the request to a value in it, as options and rules take it: the first name is `params`. */
export function parseRequestPath(text: string): PathPattern {
  const path = parsePath(text)
  if (path[0] !== 'params') throw pathRootError(text, path)
  if (isConsentPath(path)) throw consentPathError(text)
  return path
}

export function isConsentPath([, first]: PathPattern): boolean {
  return typeof first === 'string' && CONSENT_PARAMS.includes(first)
}

function pathRootError(text: string, path: PathPattern): ReelayError {
  const meant = path[0] === 'arguments' ? `params.${text}` : `params.arguments.${text}`
  return new ReelayError('PATH_INVALID', `the path ${JSON.stringify(text)} does not start at "params"`, {
    hint: `a path leads from the request to the value: write ${meant} for an argument of a tool`,
  })
}

function consentPathError(text: string): ReelayError {
  return new ReelayError('PATH_INVALID', `${JSON.stringify(text)} is always compared, under every strategy`, {
    hint: `${CONSENT_PARAMS.join(' and ')} say what the user agreed to: a refusal must never be played as a consent`,
  })
}

/** How often a client opens or probes a connection, or asks how a task is doing, is its own affair, not part of the session's content. */
export function isUncountedMethod(method: string): boolean {
  return isConnectionMethod(method) || isTaskPoll(method)
}

/** Whether a method is about the connection alone. */
export function isConnectionMethod(method: string): boolean {
  return isOpeningMethod(method) || method === 'ping'
}

/** Whether it asks for the state of a task, which changes nothing. */
export function isTaskPoll(method: string): boolean {
  return method === 'tasks/get'
}

const immutableValues = new WeakSet<object>()

/** Says of a value that nobody will change it: what was found out about it stays true as long as it lives. */
export function markImmutable(value: unknown): void {
  if (isReference(value)) immutableValues.add(value)
}

export function isMarkedImmutable(value: unknown): value is object {
  return isReference(value) && immutableValues.has(value)
}

function isReference(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

import { ReelayError } from '../errors.ts'
import { canonicalJson } from '../json/canonical.ts'
import { type PathPattern, parsePath, omitPaths } from '../json/path.ts'
import type { Era } from '../protocol/revisions/revision.ts'
import { eraOfForm, isOpeningMethod } from '../protocol/revisions/index.ts'
import { isObject, member, type JsonObject } from '../json/parse.ts'
import { hasEnvelope, META_KEYS } from '../protocol/message.ts'
import type { ClientCall } from '../tape/turns.ts'

/** Requests with equal keys get the same recorded response. The key consists of server, method, era and canonical params, not of the id. */
export function requestKey(request: ClientCall, ignore: readonly PathPattern[] = []): string {
  return canonicalJson([request.server, request.method, requestEra(request), comparedParams(request, ignore)])
}

/** Returns a key function that ignores some paths. Without paths it is `requestKey` itself, which an index on disk recognises. */
export function requestKeyWithout(ignore: readonly PathPattern[]): (request: ClientCall) => string {
  return ignore.length === 0 ? requestKey : (request) => requestKey(request, ignore)
}

/** The params that are compared: without the protocol's own keys in `_meta`, and without the ignored paths. */
export function comparedParams(
  { method, params }: Pick<ClientCall, 'method' | 'params'>,
  ignore: readonly PathPattern[] = [],
): unknown {
  if (isMatchedByMethodAlone(method)) return undefined
  const rest = ignore.length === 0 ? params : omitIgnored(params, ignore)
  if (!isObject(rest)) return rest ?? undefined
  const own = omitEmptyParams(method, omitProtocolMeta(isTaskQuery(method) ? omitTask(rest) : rest))
  return isEmptyObject(own) ? undefined : own
}

/**
 * Params that mean the same whether they are left out, `null` or, for some of them, an empty object. Clients differ in which
 * form they send: the Python and Go SDKs leave `arguments` out where programs for Node often send `{}`. An empty cursor text is
 * a cursor, and an empty `task` asks for a task, so only `null` counts as left out there.
 */
export const OPTIONAL_PARAMS: {
  readonly emptyOrNull: readonly string[]
  readonly onlyNull: readonly string[]
} = {
  emptyOrNull: ['arguments', 'inputResponses'],
  onlyNull: ['cursor', 'task', 'requestState'],
}

function omitEmptyParams(method: string, params: JsonObject): JsonObject {
  const kept = Object.entries(params).filter(([name, value]) => !isLeftOut(method, name, value))
  return kept.length === Object.keys(params).length ? params : Object.fromEntries(kept)
}

function isLeftOut(method: string, name: string, value: unknown): boolean {
  if (name === 'context' && method === COMPLETION) return isEmptyContext(value)
  if (value === null)
    return OPTIONAL_PARAMS.onlyNull.includes(name) || OPTIONAL_PARAMS.emptyOrNull.includes(name)
  return isEmptyObject(value) && OPTIONAL_PARAMS.emptyOrNull.includes(name)
}

const COMPLETION = 'completion/complete'

/** The context of a completion contains the arguments that the user has already filled in. */
function isEmptyContext(context: unknown): boolean {
  if (context === null || isEmptyObject(context)) return true
  if (!isObject(context) || Object.keys(context).length !== 1) return false
  return context['arguments'] === null || isEmptyObject(context['arguments'])
}

/** Only some params of this method are part of a key, or their form has to be changed first. */
export function needsParsedParams(method: string): boolean {
  return isTaskQuery(method) || method === COMPLETION
}

/** The params without the ignored paths. What the user agreed to is always kept. */
export function omitIgnored(params: unknown, ignore: readonly PathPattern[]): unknown {
  return withConsentParams(member(omitPaths({ params }, ignore), 'params'), params)
}

/** The era of a request: modern requests contain their protocol version. Returns `undefined` for requests that are matched by method alone. */
export function requestEra({ method, params }: ClientCall): Era | undefined {
  return eraOfRequest(method, hasEnvelope(params))
}

export function eraOfRequest(method: string, enveloped: boolean): Era | undefined {
  if (isMatchedByMethodAlone(method) || method.startsWith('notifications/')) return undefined
  return eraOfForm(enveloped)
}

// A cancellation contains a live id, which differs from the recorded one.
function isMatchedByMethodAlone(method: string): boolean {
  return isOpeningMethod(method) || method === 'notifications/cancelled'
}

/** Requests of this method are about a task by its id. SDK v1 repeats the `task` param of the call in some of them only. */
function isTaskQuery(method: string): boolean {
  return TASK_QUERIES.has(method)
}

const TASK_QUERIES: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel'])

function omitTask(params: JsonObject): JsonObject {
  const { task: _, ...rest } = params
  return rest
}

function omitProtocolMeta(params: JsonObject): JsonObject {
  const meta = member(params, '_meta')
  if (meta !== null && !isObject(meta)) return params
  const { _meta, ...rest } = params
  const own = Object.entries(meta ?? {}).filter(([name]) => !isProtocolMeta(name))
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

/** Questions to the user and their answers (2026-07-28, MRTR). They are compared exactly under every strategy and rule. */
const CONSENT_PARAMS: readonly string[] = ['requestState', 'inputResponses']

/** The values of the consent params, which are part of every group key. */
export function consentParams(params: unknown): readonly unknown[] {
  return CONSENT_PARAMS.map((name) => {
    const value = member(params, name)
    return value === undefined || isLeftOut('', name, value) ? null : value
  })
}

/** Puts the consent params back if an ignored path removed them. */
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

/** Parses the path of an option or rule. It starts at the request, so its first name is `params`. */
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
  return new ReelayError('PATH_INVALID', `the path ${JSON.stringify(text)} does not start with "params"`, {
    hint: `write ${meant} for an argument of a tool`,
  })
}

function consentPathError(text: string): ReelayError {
  return new ReelayError('PATH_INVALID', `${JSON.stringify(text)} is always compared, under every strategy`, {
    hint: `${CONSENT_PARAMS.join(' and ')} contain what the user agreed to, and a refusal must not get the response to a consent`,
  })
}

/** Requests of this method may be sent any number of times: they open or probe the connection, or poll a task. */
export function isUncountedMethod(method: string): boolean {
  return isConnectionMethod(method) || isTaskPoll(method)
}

export function isConnectionMethod(method: string): boolean {
  return isOpeningMethod(method) || method === 'ping'
}

/** The method lists what the server offers. Tasks are not among them: their list changes with every call. */
export function isListMethod(method: string): boolean {
  return LIST_METHODS.has(method)
}

const LIST_METHODS: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
])

export function isTaskPoll(method: string): boolean {
  return method === 'tasks/get'
}

const immutableValues = new WeakSet<object>()

/** Marks a value that is never changed, so that results computed from it can be kept. */
export function markImmutable(value: unknown): void {
  if (isReference(value)) immutableValues.add(value)
}

export function isMarkedImmutable(value: unknown): value is object {
  return isReference(value) && immutableValues.has(value)
}

function isReference(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

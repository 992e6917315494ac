import { editText } from '../../json/edit-text.ts'
import { isObject, member, type JsonObject } from '../../json/parse.ts'
import { META_KEYS } from '../message.ts'

// What the two eras write in another way. Texts are edited and not written again, so that numbers keep their spelling.

/** The extension that replaced the tasks of 2025-11-25. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** Methods whose requests may need input of the client. */
export const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** The code for a resource that does not exist, up to 2025-11-25. */
export const RESOURCE_NOT_FOUND = -32002
/** The error of a server up to 2025-11-25 that needs the user to open a URL first. */
export const URL_ELICITATION_REQUIRED = -32042

const CACHED_METHODS: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

/** Sets a value in a JSON text, or removes it if the value is `undefined`. */
export function withValue(text: string, path: readonly string[], value: unknown): string {
  return editText(text, path, () => value) ?? text
}

/** A result with what results of stateless revisions have in addition. */
export function toStatelessResult(text: string, method: string, serverInfo: unknown): string {
  let result = withValue(text, ['result', 'resultType'], 'complete')
  if (CACHED_METHODS.has(method)) {
    result = withValue(result, ['result', 'ttlMs'], 0)
    result = withValue(result, ['result', 'cacheScope'], 'private')
  }
  return serverInfo === undefined
    ? result
    : withValue(result, ['result', '_meta', META_KEYS.serverInfo], serverInfo)
}

/** A result without what only results of stateless revisions have. */
export function toSessionResult(text: string, result: unknown): string {
  let session = text
  for (const name of ['resultType', 'ttlMs', 'cacheScope'])
    if (member(result, name) !== undefined) session = withValue(session, ['result', name], undefined)
  return withoutMeta(session, 'result', member(result, '_meta'))
}

/** Removes the members of `_meta` that only stateless revisions have, and what is empty then. */
export function withoutMeta(text: string, parent: 'result' | 'params', meta: unknown): string {
  if (!isObject(meta)) return text
  const own = Object.keys(meta).filter((name) => !STATELESS_META.has(name))
  if (own.length === 0) {
    const rest = withValue(text, [parent, '_meta'], undefined)
    return parent === 'params' && rest.includes('"params":{}') ? withValue(rest, ['params'], undefined) : rest
  }
  return Object.keys(meta)
    .filter((name) => STATELESS_META.has(name))
    .reduce((edited, name) => withValue(edited, [parent, '_meta', name], undefined), text)
}

const STATELESS_META: ReadonlySet<string> = new Set(
  Object.values(META_KEYS).filter((key) => key !== META_KEYS.progressToken),
)

/** What a server can do, as its other era says it. */
export function toStatelessCapabilities(capabilities: unknown): JsonObject {
  const { tasks, ...rest } = isObject(capabilities) ? capabilities : {}
  if (tasks === undefined) return rest
  const extensions = isObject(rest['extensions']) ? rest['extensions'] : {}
  return { ...rest, extensions: { ...extensions, [TASKS_EXTENSION]: {} } }
}

export function toSessionCapabilities(capabilities: unknown): JsonObject {
  const given = isObject(capabilities) ? capabilities : {}
  const { [TASKS_EXTENSION]: tasks, ...extensions } = isObject(given['extensions']) ? given['extensions'] : {}
  const { extensions: _, ...rest } = given
  return {
    ...rest,
    ...(Object.keys(extensions).length > 0 && { extensions }),
    ...(tasks !== undefined && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
  }
}

/** What a client can do. Only sessions have roots that change, and tasks of clients. */
export function toStatelessClient(capabilities: unknown): JsonObject {
  const { tasks: _, roots, ...rest } = isObject(capabilities) ? capabilities : {}
  return { ...rest, ...(roots !== undefined && { roots: {} }) }
}

/** A task of the extension as one of 2025-11-25. */
export function toSessionTask(state: unknown): JsonObject {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = isObject(state)
    ? state
    : {}
  return withoutMissing({
    taskId,
    status,
    statusMessage,
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs ?? null,
    pollInterval: pollIntervalMs,
  })
}

export function toStatelessTask(state: unknown): JsonObject {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttl, pollInterval } = isObject(state)
    ? state
    : {}
  return withoutMissing({
    taskId,
    status,
    statusMessage,
    createdAt,
    lastUpdatedAt,
    ttlMs: ttl,
    pollIntervalMs: pollInterval,
  })
}

function withoutMissing(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Requests about the connection. A client of the other era says them in another way, or not at all. */
export const CONNECTION_METHODS: ReadonlySet<string> = new Set([
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
])

export const FINAL_TASK_STATES: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/** The lists that can change, and the name of each in the filter of `subscriptions/listen`. */
export const LIST_CHANGES: ReadonlyMap<string, string> = new Map(
  ['tools', 'prompts', 'resources'].map((list) => [
    `notifications/${list}/list_changed`,
    `${list}ListChanged`,
  ]),
)

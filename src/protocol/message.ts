import { isObject, member, type JsonObject } from '../json/parse.ts'

/** A JSON value that a peer sent, classified by its shape. Peers may send anything. */
export type Message = Request | Notification | Response | Batch | InvalidMessage

export interface Request {
  readonly kind: 'request'
  readonly id: Id
  readonly method: string
  readonly params: unknown
}

export interface Notification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: unknown
}

/** `id` is `null` if the peer responds to something that it could not read. */
export interface Response {
  readonly kind: 'response'
  readonly id: Id | null
  readonly outcome: { readonly result: unknown } | { readonly error: unknown }
}

export interface Batch {
  readonly kind: 'batch'
  readonly items: readonly Message[]
}

export interface InvalidMessage {
  readonly kind: 'invalid'
  readonly why: string
}

/** `c2s` from client to server, `s2c` from server to client. */
export type Direction = 'c2s' | 's2c'

/** A JSON-RPC id keeps its JSON type: `1` and `"1"` are different ids. */
export type Id = string | number

export function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number'
}

/** A key for maps that differs for the number `1` and the string `"1"`. */
export function idKey(id: Id): string {
  return typeof id === 'number' ? `#${id}` : `"${id}`
}

export function idFromKey(key: string): Id {
  return key.startsWith('#') ? Number(key.slice(1)) : key.slice(1)
}

/** Encodes an id as JSON. Most ids are numbers, which need no call of JSON.stringify. */
export function idToJson(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

/** The id of the request that a notification cancels. Returns `undefined` for all other messages. */
export function cancelledRequestId(message: Message): Id | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const id = member(message.params, 'requestId')
  return isId(id) ? id : undefined
}

/** Classifies a parsed JSON value as a JSON-RPC message, or says why it is not one. */
export function classifyMessage(value: unknown): Message {
  if (Array.isArray(value)) return classifyBatch(value)
  if (!isObject(value)) return invalidMessage('not an object')
  if (member(value, 'jsonrpc') !== '2.0') return invalidMessage('"jsonrpc" is not "2.0"')
  return Object.hasOwn(value, 'method') ? classifyCall(value) : classifyResponse(value)
}

function classifyBatch(values: readonly unknown[]): Message {
  if (values.length === 0) return invalidMessage('an empty batch')
  const items = values.map((value) =>
    Array.isArray(value) ? invalidMessage('a batch inside a batch') : classifyMessage(value),
  )
  return { kind: 'batch', items }
}

function classifyCall(value: JsonObject): Message {
  const method = member(value, 'method')
  const params = member(value, 'params')
  if (typeof method !== 'string') return invalidMessage('"method" is not a string')
  if (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))
    return invalidMessage('both a call and a response')
  if (!Object.hasOwn(value, 'id')) return { kind: 'notification', method, params }
  const id = member(value, 'id')
  return isId(id)
    ? { kind: 'request', id, method, params }
    : invalidMessage('"id" is neither a string nor a number')
}

function classifyResponse(value: JsonObject): Message {
  const hasResult = Object.hasOwn(value, 'result')
  const hasError = Object.hasOwn(value, 'error')
  if (hasResult === hasError)
    return invalidMessage(hasResult ? 'both "result" and "error"' : 'neither a call nor a response')
  const id = Object.hasOwn(value, 'id') ? member(value, 'id') : null
  if (id !== null && !isId(id)) return invalidMessage('"id" is neither a string nor a number')
  const outcome = hasResult ? { result: value['result'] } : { error: value['error'] }
  return { kind: 'response', id, outcome }
}

function invalidMessage(why: string): InvalidMessage {
  return { kind: 'invalid', why }
}

/** The levels of log messages, from the least to the most severe. */
export const LOG_LEVELS: readonly unknown[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** JSON-RPC error codes. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export type ResponsePayload = { readonly result: unknown } | { readonly error: RpcError }

/** Builds a JSON-RPC response. `id` is JSON text, so that a live id keeps its exact spelling. */
export function responseText(id: string, payload: ResponsePayload): string {
  const [name, value] = 'result' in payload ? ['result', payload.result] : ['error', payload.error]
  return `{"jsonrpc":"2.0","id":${id},"${name}":${JSON.stringify(value)}}`
}

/** Returns `undefined` if the value is not a JSON-RPC error object. */
export function parseRpcError(value: unknown): RpcError | undefined {
  const [code, message] = [member(value, 'code'), member(value, 'message')]
  if (!Number.isInteger(code) || typeof message !== 'string' || !isObject(value)) return undefined
  const data = Object.hasOwn(value, 'data') ? { data: value['data'] } : {}
  return { code: Number(code), message, ...data }
}

/** The keys of `_meta` that the protocol defines. */
export const META_KEYS = {
  progressToken: 'progressToken',
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

/** A value of `params._meta`. */
export function metaValue(params: unknown, key: string): unknown {
  return member(member(params, '_meta'), key)
}

/** The version that a request names for itself, as every request of a stateless revision does. */
export function envelopeVersion(params: unknown): string | undefined {
  const version = metaValue(params, META_KEYS.protocolVersion)
  return typeof version === 'string' ? version : undefined
}

/** Clients also send an envelope to find out what a server speaks, so it proves nothing about the server. */
export function hasEnvelope(params: unknown): boolean {
  return envelopeVersion(params) !== undefined
}

/** A request or notification, reduced to what names its subject. */
interface MethodCall {
  readonly method: string
  readonly params?: unknown
}

/** The tool that a request calls. */
export function calledTool({ method, params }: MethodCall): string | undefined {
  const name = method === 'tools/call' ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** The tool or prompt that a request names. Requests that name different ones never match each other. */
export function toolOrPromptName({ method, params }: MethodCall): string | undefined {
  const name = namesToolOrPrompt(method) ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** The tool, prompt or resource that the params of a request name. */
export function requestTarget(params: unknown): string | undefined {
  const target = member(params, 'name') ?? member(params, 'uri')
  return typeof target === 'string' ? target : undefined
}

/** Requests of this method name a tool or prompt. */
export function namesToolOrPrompt(method: string): boolean {
  return method === 'tools/call' || method === 'prompts/get'
}

/** The id of the request that a message cancels; undefined if it is not a cancellation. */
export function cancelledId(message: Message): Id | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const id = member(message.params, 'requestId')
  return isId(id) ? id : undefined
}

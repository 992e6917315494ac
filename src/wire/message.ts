import { isId, type Id } from './id.ts'

/** What one JSON value on the wire is, judged by its shape alone: peers send what they like. */
export type Message = Request | Notification | Response | Batch | Invalid

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

/** `id` is null when a peer answers something it could not read. */
export interface Response {
  readonly kind: 'response'
  readonly id: Id | null
  readonly outcome: { readonly result: unknown } | { readonly error: unknown }
}

export interface Batch {
  readonly kind: 'batch'
  readonly items: readonly Message[]
}

export interface Invalid {
  readonly kind: 'invalid'
  readonly why: string
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of an object, and only its own: `__proto__` and `constructor` are names like any other. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Says what a parsed JSON value is as a JSON-RPC message, and why it is none. */
export function classify(value: unknown): Message {
  if (Array.isArray(value)) return classifyBatch(value)
  if (!isObject(value)) return invalid('not an object')
  if (member(value, 'jsonrpc') !== '2.0') return invalid('"jsonrpc" is not "2.0"')
  return Object.hasOwn(value, 'method') ? classifyCall(value) : classifyAnswer(value)
}

function classifyBatch(values: readonly unknown[]): Message {
  if (values.length === 0) return invalid('an empty batch')
  const items = values.map((value) =>
    Array.isArray(value) ? invalid('a batch inside a batch') : classify(value),
  )
  return { kind: 'batch', items }
}

function classifyCall(value: JsonObject): Message {
  const method = member(value, 'method')
  const params = member(value, 'params')
  if (typeof method !== 'string') return invalid('"method" is not a string')
  if (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))
    return invalid('both a call and an answer')
  if (!Object.hasOwn(value, 'id')) return { kind: 'notification', method, params }
  const id = member(value, 'id')
  return isId(id) ? { kind: 'request', id, method, params } : invalid('"id" is neither a string nor a number')
}

function classifyAnswer(value: JsonObject): Message {
  const hasResult = Object.hasOwn(value, 'result')
  const hasError = Object.hasOwn(value, 'error')
  if (hasResult === hasError)
    return invalid(hasResult ? 'both "result" and "error"' : 'neither a call nor an answer')
  const id = Object.hasOwn(value, 'id') ? member(value, 'id') : null
  if (id !== null && !isId(id)) return invalid('"id" is neither a string nor a number')
  const outcome = hasResult ? { result: value['result'] } : { error: value['error'] }
  return { kind: 'response', id, outcome }
}

function invalid(why: string): Invalid {
  return { kind: 'invalid', why }
}

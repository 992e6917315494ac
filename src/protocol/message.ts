import { isObject, member, type JsonObject } from '../json/object.ts'
import { isId, type Id } from './id.ts'

export { isObject, member, type JsonObject } from '../json/object.ts'

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

/** `c2s` from client to server, `s2c` from server to client. */
export type Direction = 'c2s' | 's2c'

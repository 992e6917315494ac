import { isObject, member } from './message.ts'

/** JSON-RPC error codes. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
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

import type { EraFound } from '../wire/era.ts'
import { member, type Request } from '../wire/message.ts'
import { MODERN_VERSION } from '../wire/methods.ts'

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export type Answer = { readonly result: unknown } | { readonly error: RpcError }

/** What every server of the tape's era says though nobody asked for it on the tape; none for all other requests. */
export function ownAnswer({ method, params }: Request, { era, version }: EraFound): Answer | undefined {
  if (method === 'ping') return { result: {} }
  if (method === 'server/discover' && era === 'legacy')
    return { error: { code: -32601, message: 'Method not found' } }
  if (method === 'initialize' && era === 'modern')
    return unsupportedVersion(version ?? MODERN_VERSION, member(params, 'protocolVersion'))
  return undefined
}

/** `id` is JSON: the bytes of the live id, or `null`. */
export function answerText(id: string, answer: Answer): string {
  const [name, value] = 'result' in answer ? ['result', answer.result] : ['error', answer.error]
  return `{"jsonrpc":"2.0","id":${id},"${name}":${JSON.stringify(value)}}`
}

function unsupportedVersion(supported: string, requested: unknown): Answer {
  const data = { supported: [supported], requested }
  return { error: { code: -32022, message: 'Unsupported protocol version', data } }
}

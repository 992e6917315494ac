import { HANDSHAKE_METHODS } from '../protocol/methods.ts'

/** Whether a message opens a conversation. */
export function isHandshake({ method }: { readonly method: string }): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'notifications/initialized'
}
